import type { ApiRefusal, SealUse, SealVerdict } from "../family.ts";
import { asText } from "../json.ts";
import { generationOf, type ResponsesSimRequest } from "./providers.ts";
import { inputItems } from "./request.ts";
import { digest, openSeal } from "../seal.ts";

/** A seal as `encrypted_content`. Where the vendor binds it, the account and the item are sealed in. */
export const encrypt = (seal: string, item: string, ask: ResponsesSimRequest): string => {
  if (!ask.provider.quirks.bindsSeals) return seal;
  const account = accountOf(ask);
  const content = JSON.stringify([account, item, seal, digest(`${account} ${item} ${seal}`)]);
  return `${sealPrefix}${Buffer.from(content).toString("base64url")}`;
};

/** What every sealed thought of OpenAI begins with. */
const sealPrefix = "gAAAAAB";

type DecryptedSeal = { readonly account: string; readonly item: string | undefined; readonly seal: string };

/** The seal inside `encrypted_content`; undefined where nobody could have made it. */
export const decrypt = (text: string, ask: ResponsesSimRequest): DecryptedSeal | undefined => {
  if (!ask.provider.quirks.bindsSeals) return { account: accountOf(ask), item: undefined, seal: text };
  const letters = text.slice(sealPrefix.length);
  const content = Buffer.from(letters, "base64url");
  if (!text.startsWith(sealPrefix) || content.toString("base64url") !== letters) return undefined;
  const [account, item, seal, check] = partsOf(content.toString());
  if (account === undefined || item === undefined || seal === undefined) return undefined;
  return check === digest(`${account} ${item} ${seal}`) ? { account, item, seal } : undefined;
};

const partsOf = (text: string): readonly string[] => {
  try {
    const parts: unknown = JSON.parse(text);
    return Array.isArray(parts) ? parts.map(asText) : [];
  } catch {
    return [];
  }
};

const accountOf = ({ headers }: ResponsesSimRequest): string =>
  digest((headers["authorization"]?.replace(/^bearer +/i, "") ?? headers["api-key"] ?? "").trim());

/** The sealed thoughts of a request. One that the account or the item does not fit is shown as no seal at all. */
export const findSeals = (ask: ResponsesSimRequest): readonly SealUse[] =>
  inputItems(ask).flatMap(({ at, value }) => {
    const text = value["encrypted_content"];
    if (typeof text !== "string") return [];
    const isSound = findProblem(text, asText(value["id"]), ask) === undefined;
    const seal = isSound ? (decrypt(text, ask)?.seal ?? "") : "";
    return [{ pointer: `${at}/encrypted_content`, value: seal, unitsBefore: 0 }];
  });

/** Why a sealed thought cannot be opened here, as far as its wrapping tells. An item without an id fits any. */
const findProblem = (text: string, id: string, ask: ResponsesSimRequest): string | undefined => {
  const opened = decrypt(text, ask);
  if (opened === undefined) return unreadable;
  if (opened.account !== accountOf(ask))
    return "Encrypted content organization_id did not match the target organization.";
  if (opened.item !== undefined && id !== "" && opened.item !== id)
    return "Encrypted content item_id did not match the target item id.";
  return undefined;
};

const unreadable = "Encrypted content could not be decrypted or parsed.";

/** A thought belongs to its maker and its generation. What stood before it is nobody's concern here. */
export const judgeSeal = (
  use: SealUse,
  verdict: Exclude<SealVerdict, "genuine">,
  ask: ResponsesSimRequest,
): ApiRefusal | "accepted" => {
  switch (verdict) {
    case "prefix":
      return "accepted";
    case "other-model":
      return generationOf(openSeal(use.value)?.model ?? "") === generationOf(ask.model)
        ? "accepted"
        : sealRefusal(use, ask);
    case "forged":
    case "other-text":
      return sealRefusal(use, ask);
  }
};

const sealRefusal = ({ pointer }: SealUse, ask: ResponsesSimRequest): ApiRefusal => {
  const item = inputItems(ask).find(({ at }) => pointer.startsWith(`${at}/`));
  const text = asText(item?.value["encrypted_content"]);
  return { status: 400, kind: "bad-request", message: refusalMessage(text, item?.id ?? "", ask), pointer };
};

const refusalMessage = (text: string, id: string, ask: ResponsesSimRequest): string => {
  if (ask.provider.quirks.vendor === "xai")
    return "Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous response.";
  const name = id === "" ? `${text.slice(0, 4)}...${text.slice(-4)}` : `for item ${id}`;
  return `The encrypted content ${name} could not be verified. Reason: ${findProblem(text, id, ask) ?? unreadable}`;
};
