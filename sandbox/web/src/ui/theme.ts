// Light or dark: what the reader chose here, else `?theme=`, else what the system says.
export type Theme = "light" | "dark";
const KEPT = "poolkeeper.theme";
const DARK = "(prefers-color-scheme: dark)";

const isTheme = (word: string | null): word is Theme => word === "light" || word === "dark";

export function chosenTheme(): Theme {
  const asked = new URLSearchParams(location.search).get("theme");
  if (isTheme(asked)) return asked;
  const kept = localStorage.getItem(KEPT);
  if (isTheme(kept)) return kept;
  return systemTheme().matches ? "dark" : "light";
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

export function keepTheme(theme: Theme): void {
  localStorage.setItem(KEPT, theme);
}

export const systemTheme = (): MediaQueryList => matchMedia(DARK);
