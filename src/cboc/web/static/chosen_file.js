// A file chooser with data-fills="ID" puts the text of its file into that field, to be read before it is sent.
// The file is a sheet, or what data-what says. What is wrong with the file is said in the element that describes the chooser.
"use strict";

(() => {
  const isOurs = (element) => element.matches("input[type=file][data-fills]");

  async function textOf(file, largest, what) {
    if (file.size > largest) {
      throw new Error(`a ${what} has less than ${largest.toLocaleString("en")} bytes; ${file.name} has more.`);
    }
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      const advice = what === "sheet" ? "save it as 'CSV UTF-8'" : `is it the ${what}?`;
      throw new Error(`${file.name} is not UTF-8 text; ${advice}.`.replace("?.", "?"));
    }
  }

  // A browser is silent when the same file is chosen again, which may have changed since; so the choice is forgotten.
  document.addEventListener("click", ({ target }) => {
    if (isOurs(target)) target.value = "";
  });

  document.addEventListener("change", async ({ target }) => {
    if (!isOurs(target) || !target.files.length) return;
    const field = document.getElementById(target.dataset.fills);
    const trouble = document.getElementById(target.getAttribute("aria-describedby"));
    trouble.hidden = true;
    field.value = "";
    try {
      field.value = await textOf(target.files[0], Number(target.dataset.largest), target.dataset.what ?? "sheet");
    } catch (error) {
      trouble.textContent = error.message;
      trouble.hidden = false;
    }
  });
})();
