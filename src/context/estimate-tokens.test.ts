import { describe, expect, it } from "vitest";
import { structured, text } from "../conversation/builders.ts";
import { mediaAt, storeBytes } from "../conversation/media.ts";
import type { Media } from "../conversation/parts.ts";
import { estimateMedia, estimateParts, estimateTokens } from "./estimate-tokens.ts";
import { fc, runsPerTier } from "../../test/support/fast-check.ts";

/** Token counts of a tokenizer with 130,000 tokens (Mistral Tekken). */
const counted: readonly (readonly [language: string, tokens: number, text: string])[] = [
  [
    "English",
    55,
    "The scheduler takes the calls of a turn from request to completion. Reads run together; writes to one file keep their order. When a person cancels, every call that has not ended is told so, and nothing is left running in the background that nobody asked for.",
  ],
  [
    "TypeScript",
    85,
    'export const settle = async (calls: readonly Call[], signal: AbortSignal): Promise<readonly Outcome[]> => {\n  const outcomes = await Promise.all(calls.map((call) => run(call, signal)));\n  return outcomes.filter((outcome) => outcome.status !== "cancelled");\n};\n\nconst isPending = ({ id }: Call, done: ReadonlySet<string>): boolean => !done.has(id);\n',
  ],
  [
    "JSON",
    73,
    '{"name":"parley","version":"1.20.3","items":[{"id":1041,"path":"src/a.ts","size":20481,"ok":true},{"id":1042,"path":"src/b.ts","size":318,"ok":false}],"next":null}',
  ],
  [
    "German",
    44,
    "Die Sitzung wird gespeichert, sobald eine Antwort vollständig ist. Wenn das Programm unerwartet endet, geht nichts verloren, was bereits bestätigt wurde, und beim nächsten Start wird erklärt, was unterbrochen worden ist.",
  ],
  [
    "French",
    49,
    "La session est enregistrée dès qu'une réponse est complète. Si le programme s'arrête de façon inattendue, rien de ce qui a été confirmé n'est perdu, et l'on explique au démarrage suivant ce qui a été interrompu.",
  ],
  [
    "Russian",
    50,
    "Сеанс сохраняется, как только ответ получен полностью. Если программа неожиданно завершится, ничего из подтверждённого не потеряется, а при следующем запуске будет объяснено, что было прервано.",
  ],
  [
    "Chinese",
    63,
    "只要回答完整，会话就会被保存。如果程序意外结束，已经确认的内容不会丢失，下次启动时会说明哪些操作被中断。用户可以随时切换到另一个模型，继续同一个对话。",
  ],
  [
    "Japanese",
    56,
    "回答がすべて届いた時点で、セッションは保存されます。プログラムが予期せず終了しても、確認済みの内容は失われません。次に起動したとき、何が中断されたのかを説明します。",
  ],
  [
    "Korean",
    44,
    "응답이 완전히 도착하면 세션이 저장됩니다. 프로그램이 예기치 않게 종료되어도 이미 확인된 내용은 사라지지 않으며, 다음에 시작할 때 무엇이 중단되었는지 설명합니다.",
  ],
  [
    "Arabic",
    37,
    "تُحفظ الجلسة بمجرد اكتمال الرد. إذا انتهى البرنامج بشكل غير متوقع فلن يضيع شيء مما تم تأكيده، وعند التشغيل التالي يُشرح ما الذي توقف.",
  ],
  [
    "Hindi",
    54,
    "उत्तर पूरा मिलते ही सत्र सहेज लिया जाता है। यदि प्रोग्राम अचानक बंद हो जाए, तो जो पहले से पक्का है वह नहीं खोता, और अगली बार बताया जाता है कि क्या रुक गया था।",
  ],
  [
    "Thai",
    85,
    "เมื่อได้รับคำตอบครบถ้วน ระบบจะบันทึกการสนทนาไว้ หากโปรแกรมหยุดทำงานโดยไม่คาดคิด สิ่งที่ยืนยันแล้วจะไม่สูญหาย และครั้งต่อไปจะอธิบายว่าอะไรถูกขัดจังหวะ",
  ],
];

describe("an estimate of tokens", () => {
  it.each(counted)("is right within a third for a sentence: %s", (_, tokens, words) => {
    expect(Math.abs(estimateTokens(words) / tokens - 1)).toBeLessThan(1 / 3);
  });

  it("is right within a tenth for all of them together, unlike a fourth of the number of letters", () => {
    const real = counted.reduce((sum, [, tokens]) => sum + tokens, 0);
    const all = counted.map(([, , words]) => words).join("");
    expect(Math.abs(estimateTokens(all) / real - 1)).toBeLessThan(0.1);
    expect(all.length / 4 / real).toBeLessThan(0.8);
  });

  it("adds up, however a text is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 10 }), (pieces) => {
        const sum = pieces.reduce((total, piece) => total + estimateTokens(piece), 0);
        const whole = estimateTokens(pieces.join(""));
        expect(sum).toBeGreaterThanOrEqual(whole);
        expect(sum - whole).toBeLessThanOrEqual(pieces.length);
      }),
      { numRuns: runsPerTier(2000) },
    );
  });

  it("knows every letter there is", () => {
    const codes = Array.from({ length: 0x10000 }, (_, code) => code).filter((code) => code < 0xdc00 || code > 0xdfff);
    expect(codes.filter((code) => estimateTokens(String.fromCharCode(code).repeat(100)) < 2)).toEqual([]);
    expect(estimateTokens("")).toBe(0);
    expect([estimateTokens("👍"), estimateTokens("👍👍")]).toEqual([3, 5]);
  });

  const stored = (mimeType: string, bytes: number, facts: object = {}): Media => ({
    ...storeBytes(new Uint8Array(), { mimeType, ...facts }).media,
    source: { type: "blob", hash: "x", bytes },
  });

  it.each<[string, Media, number]>([
    ["a small picture", stored("image/png", 100, { width: 300, height: 250 }), 100],
    ["a tiny picture", stored("image/png", 100, { width: 1, height: 1 }), 85],
    ["a large picture", stored("image/png", 100, { width: 5000, height: 5000 }), 1600],
    ["a picture of unknown size", stored("image/png", 100), 1600],
    ["a PDF with known pages", stored("application/pdf", 9, { pages: 3 }), 6000],
    ["a PDF", stored("application/pdf", 120_000), 6000],
    ["words as a file", stored("text/plain", 4001), 1001],
    ["sound", stored("audio/mpeg", 16_000), 32],
    ["moving pictures", stored("video/mp4", 252_000), 280],
    ["a page elsewhere", mediaAt("https://example.com/a.pdf", { mimeType: "application/pdf" }), 2000],
  ])("counts %s", (_, media, tokens) => {
    expect(estimateMedia(media)).toBe(tokens);
  });

  it("is the sum over the parts of a message", () => {
    const picture = stored("image/png", 1);
    expect(estimateParts([text("hello there"), picture, structured({ a: 1 })])).toBe(
      estimateTokens("hello there") + 1600 + estimateTokens('{"a":1}'),
    );
    expect(estimateParts([])).toBe(0);
  });
});
