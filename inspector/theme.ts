const storageKey = "parley-theme";

/** Applies the theme chosen last; without one, the system's. */
export const applyTheme = (): void => {
  const chosen = localStorage.getItem(storageKey);
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset["theme"] = chosen;
};

/** Changes between light and dark. */
export const toggleTheme = (): void => {
  const { dataset } = document.documentElement;
  const isDark =
    (dataset["theme"] ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  dataset["theme"] = isDark ? "light" : "dark";
  localStorage.setItem(storageKey, dataset["theme"]);
};
