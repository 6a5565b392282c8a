// JupyterLab's command mode would take the arrow keys and letters pressed on a list, a box or a button:
// an arrow would move to another cell, an x would cut it. In our panels a focused control keeps its keys.
export default {
  render({ el }) {
    const attach = () => {
      const panel = el.closest(".lk-panel");
      if (!panel) return requestAnimationFrame(attach);
      panel.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
      const name = () => panel.querySelectorAll(".widget-slider").forEach((slider) => {
        const label = slider.querySelector(".widget-label")?.textContent ?? "";
        slider.querySelectorAll("[role=slider], .widget-readout").forEach((part) => {
          if (part.getAttribute("aria-label") !== label) part.setAttribute("aria-label", label);
        });
      });
      name();
      new MutationObserver(name).observe(panel, { subtree: true, childList: true });
    };
    attach();
  },
};
