// The page's theme for those who draw with it, and what turns it over.
import { createContext, useContext, useEffect, useState } from "react";
import { applyTheme, chosenTheme, keepTheme, systemTheme, type Theme } from "./theme";

const OfPage = createContext<Theme>("light");
export const ThemeOfPage = OfPage.Provider;
export const useThemeOfPage = (): Theme => useContext(OfPage);

/** The theme of this page, and what turns it over. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(chosenTheme);
  useEffect(() => applyTheme(theme), [theme]);
  useEffect(() => {
    const system = systemTheme();
    const follow = () => setTheme(chosenTheme());
    system.addEventListener("change", follow);
    return () => system.removeEventListener("change", follow);
  }, []);
  const turn = () => {
    const other = theme === "dark" ? "light" : "dark";
    keepTheme(other);
    setTheme(other);
  };
  return [theme, turn];
}
