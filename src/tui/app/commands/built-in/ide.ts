import type { IdeOffer } from "../../../../ide/discover.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** `/ide`: shows the editors that offer a connection and connects to one; `/ide off` disconnects. */
export const connectToIde = async (words: string, at: SlashCommandContext): Promise<void> => {
  const ide = await at.ide();
  const { current } = ide;
  if (words === "off") {
    if (current === undefined) return at.info("Not connected to an editor.");
    ide.disconnect();
    return at.info(`Disconnected from ${current.name}. Not to connect at start: parley config set ide.connect off`);
  }
  if (words !== "") return at.warn(`Unknown argument "${words}". Use /ide or /ide off.`);
  if (!at.loaded().policy.trusted) return at.warn("Not in a folder you do not trust. Trust it with /trust.");
  const offers = await ide.offers();
  if (offers.length === 0)
    return at.info(
      "No editor found. Install the Claude Code or Gemini CLI extension of your editor (docs/editors.md), and open this folder there.",
    );
  const options = [
    ...offers.map((offer) => toOption(offer, current)),
    ...(current === undefined ? [] : [{ id: "off", label: "Disconnect" }]),
  ];
  const picked = await at.pick("Connect to which editor?", options, current && String(current.port));
  if (picked?.id === "off") return connectToIde("off", at);
  const offer = offers.find(({ port }) => String(port) === picked?.id);
  if (offer !== undefined) await ide.connect(offer);
};

const toOption = (offer: IdeOffer, current: IdeOffer | undefined): PickerOption => ({
  id: String(offer.port),
  label: offer.name,
  detail: [
    offer.port === current?.port ? "connected" : offer.isFor === undefined ? "another folder" : "this folder",
    ...offer.folders.slice(0, 2),
  ].join(", "),
});
