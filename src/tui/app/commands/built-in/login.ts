import { providers } from "../../../../providers/all.ts";
import { keyVariable } from "../../../../transport/credentials/key-store.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** The providers that take a key, as picker options. */
export const loginOptions: readonly PickerOption[] = [
  ...providers
    .filter(({ id }) => keyVariable(id) !== undefined)
    .map(({ id, label }) => ({ id, label: id, detail: label })),
  { id: "code-assist", label: "code-assist", detail: "sign in with a Google account" },
];

/** `/login`: stores a key for a provider, and opens the session again with it. */
export const logIn = async (words: string, at: SlashCommandContext): Promise<void> => {
  const provider = words === "" ? (await at.pick("Store a key for which provider?", loginOptions))?.id : words;
  if (provider === undefined) return;
  const code = await at.login(provider.split(/\s+/));
  if (code !== 0) return at.warn("Nothing was stored.");
  await at.reopen({ id: at.opened().session.id });
  const [name = ""] = provider.split(/\s+/);
  at.info(`${name} can be used now. Switch to one of its models with /model ${name}.`);
};
