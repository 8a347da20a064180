import { KnownSecrets } from '../../agent/guard/known-secrets.ts';
import { hideInArgument, looksSecret } from '../../agent/guard/values/hidden-values.ts';
import type { Environment } from '../../environment.ts';
import { isSecretKey } from '../../secret-key.ts';
import { isArgument, isCommand, secretsInCommand, secretsOf } from './config-secrets.ts';

/** The secrets that the daemon works with. No output of a tool may show them, in any form. */
export interface GuardedSecrets {
  current(): KnownSecrets;
  /** Adds secrets; earlier ones stay hidden, because files may still contain them. */
  learn(values: Iterable<string>): void;
  /** Hides these, too, in place of those of the call before, which are worth nothing any more. */
  replacePassing(values: Iterable<string>): void;
}

/** Begins with those of the configuration and the environment. */
export function createGuardedSecrets({ config, environment }: { config: unknown; environment: Environment }) {
  const values = new Set<string>();
  let passing: readonly string[] = [];
  let known: KnownSecrets | undefined;
  const secrets: GuardedSecrets & { learnConfig(config: unknown): void } = {
    current() {
      known ??= new KnownSecrets([...values, ...passing]);
      return known;
    },
    learn(more) {
      for (const value of more) values.add(value);
      known = undefined;
    },
    replacePassing(next) {
      passing = [...next];
      known = undefined;
    },
    learnConfig: (next) =>
      secrets.learn(
        [...secretsOf(next)].flatMap(([place, secret, before]) => {
          const path = place.split('.');
          if (isCommand(path)) return secretsInCommand(secret, before); // the rest of it is shown
          if (isArgument(path)) return hideInArgument(secret, before).secrets;
          return isLearned(place, secret) ? formsOf(secret) : [];
        }),
      ),
  };
  secrets.learnConfig(config);
  secrets.learn(
    Object.entries(environment).flatMap(([name, value = '']) => (isSecret(name, value) ? formsOf(value) : [])),
  );
  return secrets;
}

/**
 * All variables of tool servers are masked, but a folder or a level of logs among them is nothing to hide in every output.
 */
const isLearned = (place: string, value: string): boolean =>
  !place.startsWith('mcp.servers.') || looksSecret(place.slice(place.lastIndexOf('.') + 1), value);

const ADDRESSES = new Set(['HEADGATE_STORE_URL', 'HEADGATE_STORE_BUS']);

/** The path of a file is no secret, as in CREDENTIALS_DIRECTORY. */
const isSecret = (name: string, value: string): boolean =>
  (isSecretKey(name) || name.startsWith('HEADGATE_KEY_') || ADDRESSES.has(name)) && !value.startsWith('/');

/** An address is secret because of its password. */
function formsOf(secret: string): string[] {
  if (!URL.canParse(secret)) return [secret];
  const { password } = new URL(secret);
  return password === '' ? [secret] : [secret, password, decodeURIComponent(password)];
}
