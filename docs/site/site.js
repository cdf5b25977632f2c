// Reference pages: sections that open and close, and a filter over their entries.

function start(article) {
  const sections = [...article.querySelectorAll(":scope > section > section")];
  const filter = document.createElement("input");
  Object.assign(filter, { type: "search", className: "filter", placeholder: "Filter" });
  filter.setAttribute("aria-label", "Show the entries that contain this");

  const open = (section, isOpen) => {
    section.classList.toggle("closed", !isOpen);
    section.querySelector(".toggle").setAttribute("aria-expanded", isOpen);
  };
  for (const section of sections) {
    const heading = section.querySelector("h2");
    const toggle = document.createElement("button");
    toggle.className = "toggle";
    toggle.setAttribute("aria-label", `Open or close ${heading.firstChild.textContent.trim()}`);
    toggle.onclick = () => open(section, section.classList.contains("closed"));
    heading.prepend(toggle);
  }

  const show = () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const has = (element) => words.every((word) => element.textContent.toLowerCase().includes(word));
    for (const section of sections) {
      const entries = section.querySelectorAll(":scope > section, tbody tr");
      const isWhole = has(section.querySelector("h2"));
      let found = isWhole;
      for (const entry of entries) {
        entry.hidden = !isWhole && !has(entry);
        found ||= !entry.hidden;
      }
      section.hidden = !found && !(entries.length === 0 && has(section));
      open(section, words.length > 0);
    }
  };
  const follow = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const section = sections.find((each) => target && (each === target || each.contains(target)));
    if (section === undefined) return;
    filter.value = "";
    show();
    open(section, true);
    target.scrollIntoView();
  };
  filter.oninput = show;
  addEventListener("hashchange", follow);
  article.querySelector("h1").after(filter);
  show();
  follow();
}

document.addEventListener("DOMContentLoaded", () => {
  const article = document.querySelector("article");
  if (article && location.pathname.includes("/reference/")) start(article);
});
