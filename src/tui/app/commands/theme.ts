import { setSetting } from "../../../settings/write.ts";
import type { Option } from "../../views/picker.ts";
import type { Desk } from "../command.ts";
import { themeNamed } from "../theme-named.ts";

const names = ["auto", "light", "dark"] as const;

/** The colours there are. */
export const themeOptions: readonly Option[] = names.map((id) => ({
  id,
  label: id,
  ...(id === "auto" ? { detail: "what suits the terminal" } : {}),
}));

/** `/theme`: the colours, now and from now on. */
export const theme = async (words: string, at: Desk): Promise<void> => {
  const wanted =
    words === "" ? (await at.pick("Which colours?", themeOptions, at.loaded().settings["ui.theme"]))?.id : words;
  const name = names.find((each) => each === wanted);
  if (wanted === undefined) return;
  if (name === undefined) return at.warn(`There are no colours "${wanted}". There are ${names.join(", ")}.`);
  at.setTheme(themeNamed(name));
  await setSetting(at.world, at.home, "ui.theme", name);
  at.say(`From now on in ${name === "auto" ? "the colours that suit the terminal" : `${name} colours`}.`);
};
