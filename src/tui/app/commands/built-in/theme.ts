import { setSetting } from "../../../../settings/file/write.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";
import { themeForSetting } from "../../theme-setting.ts";

const themeNames = ["auto", "light", "dark"] as const;

/** The themes as picker options. */
export const themeOptions: readonly PickerOption[] = themeNames.map((id) => ({
  id,
  label: id,
  ...(id === "auto" ? { detail: "by the terminal's background" } : {}),
}));

/** `/theme`: changes the theme and saves it in the settings. */
export const changeTheme = async (words: string, at: SlashCommandContext): Promise<void> => {
  const wanted = words === "" ? (await at.pick("Theme", themeOptions, at.loaded().settings["ui.theme"]))?.id : words;
  const name = themeNames.find((each) => each === wanted);
  if (wanted === undefined) return;
  if (name === undefined) return at.warn(`Unknown theme "${wanted}". Available: ${themeNames.join(", ")}.`);
  at.setTheme(themeForSetting(name));
  await setSetting(at.world, at.home, "ui.theme", name);
  at.info(`Theme set to ${name}.`);
};
