// JupyterLab's command mode would take the arrow keys and letters pressed on a list, a box or a button:
// an arrow would move to another cell, an x would cut it. In our panels a focused control keeps its keys.
export default {
  render({ el }) {
    const attach = () => {
      const panel = el.closest(".lk-panel");
      if (!panel) return requestAnimationFrame(attach);
      panel.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
    };
    attach();
  },
};
