import { dark, light, type Theme } from "../screen/theme.ts";

/** The colours a person wants; undefined for those that suit the terminal. */
export const themeForSetting = (name: "auto" | "light" | "dark"): Theme | undefined =>
  ({ auto: undefined, light, dark })[name];
