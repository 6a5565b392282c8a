import os
from page import panels, slider, shows, altered
from labkit.workbook.cases import lesson
C = lesson("07_errors")
OUT="/tmp/lessons/shots07"; os.makedirs(OUT, exist_ok=True)
FITS = """panel => { const box = e => e.getBoundingClientRect(), row = panel.querySelector('.lk-ledger tbody tr');
    return [box(row).bottom - box(panel).top, panel.closest('.jp-WindowedPanel-outer').clientHeight, panel.scrollWidth - panel.clientWidth]; }"""
def shot(page, loc, name, block="start"):
    for _ in range(4):
        loc.evaluate("(e,b) => e.scrollIntoView({block:b})", block); page.wait_for_timeout(200)
    page.screenshot(path=f"{OUT}/{name}.png")
def pick(p, label, option): p.get_by_label(label, exact=True).select_option(label=option)
def test_look(open_lesson):
    page = open_lesson("07_errors.ipynb")
    panels(page).nth(2).wait_for(); page.wait_for_timeout(3000)
    P = panels(page); print("panels", P.count())
    start = [("unknown", ("hunted",)), ("outage, emptied", ("reads",)), ("both, budget", ("spending",))]
    for i,(n,also) in enumerate(start):
        shows(P.nth(i), C[n], also=also); shot(page, P.nth(i), f"panel{i}"); print(i, P.nth(i).evaluate(FITS))
    p=P.nth(0); pick(p,"faults are","broken: told to the model"); shows(p, C["unknown"].with_(errors="told"), also=("hunted",)); shot(page,p,"p0_told"); print("told", p.evaluate(FITS))
    pick(p,"start from",C["passing"].title); shows(p,C["passing"],also=("hunted",)); pick(p,"faults are","broken: told to the model"); shows(p,C["passing"].with_(errors="told"),also=("hunted",)); shot(page,p,"p0_passing")
    pick(p,"start from",C["choose"].title); pick(p,"faults are","broken: answered as nothing"); shows(p,C["choose"].with_(errors="emptied"),also=("hunted",)); shot(page,p,"p0_choose")
    p=P.nth(1); pick(p,"faults are","mapped in one place"); shows(p,C["outage, emptied"].with_(errors="mapped"),also=("reads",)); shot(page,p,"p1_mapped")
    pick(p,"start from",C["no hit"].title); shows(p,C["no hit"],also=("reads",)); shot(page,p,"p1_nohit")
    p=P.nth(2); slider(p,"executions").locator(".noUi-handle").focus(); page.keyboard.press("ArrowLeft"); page.wait_for_timeout(500); shot(page,p,"p2_one"); shot(page,p,"p2_one_end","end")
    pick(p,"start from",C["retried"].title); pick(p,"faults are","mapped in one place"); shows(p,C["retried"].with_(errors="mapped"),also=("spending",)); shot(page,p,"p2_retried")
    a = page.locator(".lk-asks"); print("asks", a.count())
    for n in range(a.count()):
        sels = a.nth(n).locator("select")
        for k in range(sels.count()): sels.nth(k).select_option(index=1)
        a.nth(n).locator("button").click(); page.wait_for_timeout(400); shot(page, a.nth(n), f"ask{n}")
    cells = page.locator(".jp-Notebook .jp-Cell"); n=cells.count(); print(n)
    for i in range(0,n,2): shot(page, cells.nth(i), f"cell{i:02}")
    print("external", page.external, "errors", page.console_errors)
