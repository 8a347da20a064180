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

const PROTOCOLS = ['ext', 'file', 'ftp', 'ftps', 'git', 'http', 'https', 'ssh'];

/**
 * Of every git that Headgate itself runs, outside the sandbox: what a repository's own settings name is not run. Where a
 * part is missing that a partial clone would fetch, git fails.
 */
export const SAFE_GIT_OPTIONS: readonly string[] = [
  ...['--no-pager', '--no-optional-locks', '--no-replace-objects'],
  ...['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', '-c', 'safe.bareRepository=explicit'],
  ...['-c', 'protocol.allow=never', ...PROTOCOLS.flatMap((name) => ['-c', `protocol.${name}.allow=never`])],
];
