/** A command or agent file of a plugin. */
export type PluginFile = {
  /** The name without the plugin's. */
  readonly name: string;
  readonly plugin: string;
  readonly isNamespaced: boolean;
  readonly path: string;
  readonly label: string;
  readonly variables: PluginVariables;
};

/** The values of a plugin's placeholders, by name. None is a secret. */
export type PluginVariables = { readonly [name: string]: string };

/** The placeholders that the three systems define. */
export const variablesOf = (at: {
  readonly root: string;
  readonly data: string;
  readonly folder: string;
}): PluginVariables => ({
  PLUGIN_ROOT: at.root,
  PLUGIN_DATA: at.data,
  CLAUDE_PLUGIN_ROOT: at.root,
  CLAUDE_PLUGIN_DATA: at.data,
  CLAUDE_PROJECT_DIR: at.folder,
  extensionPath: at.root,
  workspacePath: at.folder,
  "/": "/",
  pathSeparator: "/",
});

/** Replaces `${NAME}` for the placeholders of plugins; other variables stay. */
export const fillVariables = (text: string, variables: PluginVariables): string =>
  text.replaceAll(/\$\{([A-Za-z_]\w*|\/)\}/g, (all, name: string) =>
    Object.hasOwn(variables, name) ? (variables[name] ?? all) : all,
  );
