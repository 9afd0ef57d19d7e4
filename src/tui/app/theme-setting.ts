import { dark, light, type Theme } from "../screen/theme.ts";

/** The theme of a setting; undefined for `auto`. */
export const themeForSetting = (name: "auto" | "light" | "dark"): Theme | undefined =>
  ({ auto: undefined, light, dark })[name];
