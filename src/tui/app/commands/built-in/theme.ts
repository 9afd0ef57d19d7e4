import { setSetting } from "../../../../settings/file/write.ts";
import type { PickerOption } from "../../../views/picker.ts";
import { listThemes, loadTheme } from "../../theme-file.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** The themes as picker options: built-in ones, those of files in `themes`, then those of plugins. */
export const themeOptions = async ({
  world,
  home,
}: Pick<SlashCommandContext, "world" | "home">): Promise<readonly PickerOption[]> =>
  (await listThemes(world, home)).map((id) => ({
    id,
    label: id,
    ...(id === "auto" ? { detail: "by the terminal's background" } : {}),
  }));

/** `/theme`: changes the theme and saves it in the settings. */
export const changeTheme = async (words: string, at: SlashCommandContext): Promise<void> => {
  const current = at.loaded().settings["ui.theme"];
  const wanted = words === "" ? (await at.pick("Theme", await themeOptions(at), current))?.id : words;
  if (wanted === undefined) return;
  const { theme, problems } = await loadTheme(at.world, at.home, wanted);
  for (const problem of problems) at.warn(problem);
  if (theme === undefined && problems.length > 0) return;
  at.setTheme(theme);
  await setSetting(at.world, at.home.config, "ui.theme", wanted);
  at.info(`Theme set to ${wanted}.`);
};
