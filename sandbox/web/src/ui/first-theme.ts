// Runs before the first paint, so that a page in the other theme does not flash.
import { applyTheme, chosenTheme } from "./theme";

applyTheme(chosenTheme());
