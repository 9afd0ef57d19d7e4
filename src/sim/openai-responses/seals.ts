import type { ApiRefusal, SealUse, SealVerdict } from "../family.ts";
import { asText } from "../json.ts";
import { generationOf, type ResponsesSimRequest } from "./providers.ts";
import { inputItems } from "./request.ts";
import { digest, openSeal } from "../seal.ts";

/** Encodes a seal as `encrypted_content`, with the account and the item where the vendor binds it to them. */
export const encrypt = (seal: string, item: string, request: ResponsesSimRequest): string => {
  if (!request.provider.quirks.bindsSeals) return seal;
  const account = accountOf(request);
  const content = JSON.stringify([account, item, seal, digest(`${account} ${item} ${seal}`)]);
  return `${sealPrefix}${Buffer.from(content).toString("base64url")}`;
};

/** The prefix of OpenAI's encrypted reasoning. */
const sealPrefix = "gAAAAAB";

type DecryptedSeal = { readonly account: string; readonly item: string | undefined; readonly seal: string };

/** Decodes `encrypted_content`; undefined if it is not genuine. */
export const decrypt = (text: string, request: ResponsesSimRequest): DecryptedSeal | undefined => {
  if (!request.provider.quirks.bindsSeals) return { account: accountOf(request), item: undefined, seal: text };
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

/** Finds the encrypted reasoning of a request. Content of another account or item counts as no seal. */
export const findSeals = (request: ResponsesSimRequest): readonly SealUse[] =>
  inputItems(request).flatMap(({ at, value }) => {
    const text = value["encrypted_content"];
    if (typeof text !== "string") return [];
    const isSound = findProblem(text, asText(value["id"]), request) === undefined;
    const seal = isSound ? (decrypt(text, request)?.seal ?? "") : "";
    return [{ pointer: `${at}/encrypted_content`, value: seal, unitsBefore: 0 }];
  });

/** The reason why encrypted reasoning cannot be decrypted here, if any. An item without an id matches any. */
const findProblem = (text: string, id: string, request: ResponsesSimRequest): string | undefined => {
  const opened = decrypt(text, request);
  if (opened === undefined) return unreadable;
  if (opened.account !== accountOf(request))
    return "Encrypted content organization_id did not match the target organization.";
  if (opened.item !== undefined && id !== "" && opened.item !== id)
    return "Encrypted content item_id did not match the target item id.";
  return undefined;
};

const unreadable = "Encrypted content could not be decrypted or parsed.";

/**
 * Decides what the vendor does with encrypted reasoning. It belongs to its provider and model generation; the prompt
 * before it is not compared.
 */
export const judgeSeal = (
  use: SealUse,
  verdict: Exclude<SealVerdict, "genuine">,
  request: ResponsesSimRequest,
): ApiRefusal | "accepted" => {
  switch (verdict) {
    case "prefix":
      return "accepted";
    case "other-model":
      return generationOf(openSeal(use.value)?.model ?? "") === generationOf(request.model)
        ? "accepted"
        : sealRefusal(use, request);
    case "forged":
    case "other-text":
      return sealRefusal(use, request);
  }
};

const sealRefusal = ({ pointer }: SealUse, request: ResponsesSimRequest): ApiRefusal => {
  const item = inputItems(request).find(({ at }) => pointer.startsWith(`${at}/`));
  const text = asText(item?.value["encrypted_content"]);
  return { status: 400, kind: "bad-request", message: refusalMessage(text, item?.id ?? "", request), pointer };
};

const refusalMessage = (text: string, id: string, request: ResponsesSimRequest): string => {
  if (request.provider.quirks.vendor === "xai")
    return "Could not decrypt the provided encrypted_content. Ensure the value is the unmodified encrypted_content from a previous response.";
  const name = id === "" ? `${text.slice(0, 4)}...${text.slice(-4)}` : `for item ${id}`;
  return `The encrypted content ${name} could not be verified. Reason: ${findProblem(text, id, request) ?? unreadable}`;
};
