/** Shaped like `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Of every git that is started here. Otherwise git takes any folder that looks like the inside of a repository for one, and
 * runs the programs that its file `config` names.
 */
export const GIT_VARIABLES = {
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
} as const;
