export type { Action, Target } from "./editor/action.ts";
export {
  type Choice,
  type ChoiceSource,
  chosen,
  type Completing,
  completingAt,
  type Menu,
  menuFor,
  moveFocus,
} from "./editor/completion.ts";
export { edit } from "./editor/edit.ts";
export { type Match, rank } from "./editor/fuzzy.ts";
export { press, type Pressed, type Wish } from "./editor/keymap.ts";
export { type Editor, emptyEditor, modeOf, wholeText } from "./editor/state.ts";
export { type EditorView, viewEditor } from "./editor/view.ts";
export { type Picture, pictureFor } from "./images/encode.ts";
export { pictureSupport, type PictureSupport } from "./images/support.ts";
export { byteCount, type PictureFacts, viewPicture } from "./images/view.ts";
export type { KeyEvent, Reply } from "./keys/event.ts";
export { keyListener } from "./keys/listen.ts";
export { KeyReader } from "./keys/reader.ts";
export { createHighlighter, type Highlighter } from "./markdown/highlight.ts";
export { type Lexer, loadLexer, type MarkdownOptions, MarkdownStream } from "./markdown/stream.ts";
export { type Colour, type ColourDepth, colourDepthOf } from "./screen/colour.ts";
export { attend, stopAndWait, type TerminalListener } from "./screen/lifetime.ts";
export { questions } from "./screen/modes.ts";
export { type Paint, paintFor } from "./screen/paint.ts";
export { type Live, Screen, type ScreenOptions, type Surface } from "./screen/screen.ts";
export { Sequential } from "./screen/sequential.ts";
export { dark, light, type Theme, themeFor } from "./screen/theme.ts";
export { cut, line, lineColumns, linesOf, lineText, oneLine, padded, span } from "./text/line.ts";
export type { Ground, Line, Span, Style, Tone } from "./text/style.ts";
export { columnsOf, graphemesOf } from "./text/width.ts";
export { wrap, type WrapOptions } from "./text/wrap.ts";
export {
  type Approval,
  type ApprovalBox,
  type ApprovalChoice,
  type Approving,
  createApproval,
  pressApproval,
  viewApproval,
} from "./views/approval.ts";
export { type CallStatus, type CallView, viewCall } from "./views/call.ts";
export { type DiffOptions, viewDiff } from "./views/diff.ts";
export { createPicker, type Option, type Picked, type Picker, pressPicker, viewPicker } from "./views/picker.ts";
export { duration, type Progress, viewProgress } from "./views/progress.ts";
export { type Table, viewTable } from "./views/table.ts";
