// Copies what a button names; says so on the button for a moment.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copies]");
  if (!button) return;
  const text = document.getElementById(button.dataset.copies).textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    const range = document.createRange();
    range.selectNodeContents(document.getElementById(button.dataset.copies));
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    button.textContent = "Selected: press Ctrl+C";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
});

// While the server sends what is new, the page need not ask for it.
document.addEventListener("htmx:sseOpen", (event) => { event.target.dataset.live = "yes"; });
for (const gone of ["htmx:sseError", "htmx:sseClose"]) {
  document.addEventListener(gone, (event) => { delete event.target.dataset.live; });
}
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.target.id === "live" && event.target.querySelector("[data-live]")) event.preventDefault();
});
