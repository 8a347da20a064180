import { type Environment, GIT_VARIABLES } from '../../environment.ts';
import { toChildPath } from './child-path.ts';
import type { Look } from './programs.ts';

/**
 * The part of the daemon's environment that a child process gets. Names come from an allow-list, so new secrets are
 * never passed on. The PATH begins with folders in which the child cannot plant programs. `avoid` are folders that
 * agents can write to, with links resolved. `look`: see `followWay`.
 */
export async function toChildEnvironment(
  environment: Environment,
  avoid: readonly string[],
  look?: Look,
): Promise<Record<string, string>> {
  const passed = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isPassedOn(entry[0], entry[1]),
  );
  const PATH = await toChildPath(environment.PATH, avoid, look);
  return { ...Object.fromEntries(passed), ...GIT_VARIABLES, PATH, TERM: 'dumb' };
}

const NAMES = new Set(
  'PATH HOME LANG LANGUAGE TZ USER LOGNAME SHELL TMPDIR SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS'.split(' '),
);
const PROXIES = /^(https?_proxy|all_proxy|no_proxy)$/i;

function isPassedOn(name: string, value: string): boolean {
  // The URL of a proxy may contain a user and a password.
  if (PROXIES.test(name)) return !value.includes('@');
  return NAMES.has(name) || name.startsWith('LC_');
}
