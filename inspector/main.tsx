import { render } from "preact";
import { openApi, takeToken } from "./api.ts";
import { App } from "./app.tsx";
import { applyTheme } from "./theme.ts";

const root = document.getElementById("app");
const token = takeToken();
applyTheme();
if (root !== null) {
  root.replaceChildren();
  render(
    token === undefined ? (
      <p class="loading">
        This address lacks its token. Open the address that <code>parley inspect</code> printed.
      </p>
    ) : (
      <App api={openApi(token)} />
    ),
    root,
  );
}
