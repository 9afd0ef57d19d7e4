import {
  GoogleGenAI,
  ThinkingLevel,
  type Content,
  type GenerateContentConfig,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type Part,
} from "@google/genai";
import { OAuth2Client } from "google-auth-library";
import type { ClientBody, OpenClient, ClientTurn } from "./client.ts";
import { maxTokens, measurement, picture, question, system, tools } from "./scene.ts";

/** Google's client with an API key, at the Gemini API. */
export const openGemini: OpenClient = ({ base }, model) => clientOf(withKey(base), model);

/** Google's client at Vertex, with an account. */
export const openVertex: OpenClient = ({ base }, model) => {
  const authClient = new OAuth2Client();
  authClient.setCredentials({ access_token: "token-1", expiry_date: Number.MAX_SAFE_INTEGER });
  return clientOf(
    new GoogleGenAI({
      vertexai: true,
      project: "a-project",
      location: "global",
      googleAuthOptions: { authClient },
      httpOptions: { baseUrl: base },
    }),
    model,
  );
};

/** The client's chat, which manages the history itself: each event is sent back as one content. */
export const openGeminiChat: OpenClient = ({ base }, model) => {
  const ai = withKey(base);
  return {
    loop: async () => {
      const chat = ai.chats.create({ model, config });
      const first = await gathered(await chat.sendMessageStream({ message: question }));
      const last = await gathered(await chat.sendMessageStream({ message: results(first.parts) }));
      return [first.turn, last.turn];
    },
    send: ({ body }) => ai.models.generateContent(asParameters({ model, body })),
  };
};

const withKey = (baseUrl: string): GoogleGenAI => new GoogleGenAI({ apiKey: "key-1", httpOptions: { baseUrl } });

const config: GenerateContentConfig = {
  systemInstruction: system,
  maxOutputTokens: maxTokens,
  thinkingConfig: { thinkingLevel: ThinkingLevel.MEDIUM, includeThoughts: true },
  tools: [
    {
      functionDeclarations: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        parametersJsonSchema: parameters,
      })),
    },
  ],
};

const clientOf = ({ models }: GoogleGenAI, model: string): ReturnType<OpenClient> => {
  const ask = async (contents: readonly Content[]): Promise<Gathered> =>
    gathered(await models.generateContentStream({ model, contents: [...contents], config }));
  return {
    loop: async () => {
      const contents: Content[] = [{ role: "user", parts: [{ text: question }] }];
      const first = await ask(contents);
      contents.push({ role: "model", parts: first.parts }, { role: "user", parts: results(first.parts) });
      return [first.turn, (await ask(contents)).turn];
    },
    send: (body) => models.generateContent(asParameters(body)),
  };
};

/** A body in the client's form, which merges `generationConfig` and the fields beside it into `config`. */
const asParameters = ({ model, body }: ClientBody): GenerateContentParameters => {
  const { contents, generationConfig, ...rest } = body;
  return {
    model,
    contents,
    config: { ...(typeof generationConfig === "object" ? generationConfig : { generationConfig }), ...rest },
  } as GenerateContentParameters;
};

type Gathered = { readonly parts: Part[]; readonly turn: ClientTurn };

const gathered = async (stream: AsyncGenerator<GenerateContentResponse>): Promise<Gathered> => {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
  const last = chunks.at(-1);
  const { promptTokenCount, candidatesTokenCount = 0, thoughtsTokenCount = 0 } = last?.usageMetadata ?? {};
  const words = (isThought: boolean): string =>
    parts.map(({ text = "", thought = false }) => (thought === isThought ? text : "")).join("");
  return {
    parts: parts.filter(({ thought }) => thought !== true).reduce(joined, []),
    turn: {
      thought: words(true),
      text: words(false),
      calls: chunks.flatMap(({ functionCalls = [] }) =>
        functionCalls.map(({ name = "", args }) => ({ tool: name, input: args })),
      ),
      finish: last?.candidates?.[0]?.finishReason,
      usage: { input: promptTokenCount, output: candidatesTokenCount + thoughtsTokenCount },
    },
  };
};

/** Joins text deltas into one part. A part with a signature stays separate. */
const joined = (parts: Part[], part: Part): Part[] => {
  const last = parts.at(-1);
  const isPlain = ({ text, thoughtSignature }: Part): boolean => text !== undefined && thoughtSignature === undefined;
  if (last === undefined || !isPlain(last) || !isPlain(part)) return [...parts, part];
  return [...parts.slice(0, -1), { text: `${last.text}${part.text}` }];
};

const results = (parts: readonly Part[]): Part[] =>
  parts
    .flatMap(({ functionCall }) => functionCall ?? [])
    .map(({ id = "", name = "" }) => ({
      functionResponse:
        name === "look"
          ? { id, name, response: { output: "Here it is." }, parts: [{ inlineData: image }] }
          : { id, name, response: { output: measurement } },
    }));

const image = { mimeType: picture.mimeType, data: picture.base64 };
