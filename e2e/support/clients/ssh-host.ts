import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir, userInfo } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toShellWords } from './terminal.ts';

/** This machine, as another one that is reached by ssh. */
export interface SshHost extends AsyncDisposable {
  /** What a person types to run `headgate` there, with these options of ssh and these variables. */
  words(task: { options?: readonly string[]; env: Record<string, string>; args: readonly string[] }): string[];
  /** What the server logged so far. */
  log(): Promise<string>;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/**
 * An sshd of the user who runs the tests, with its own keys. ssh starts one for each connection and talks to it through pipes, so
 * it needs no port.
 */
export async function openSshHost(): Promise<SshHost> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-ssh-'));
  const at = (name: string) => path.join(folder, name);
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true }); // made by the service, which does not run
  for (const key of ['host', 'person']) await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', at(key)]);
  await copyFile(at('person.pub'), at('authorized'));
  await writeFile(at('known'), `headgate-host ${await readFile(at('host.pub'), 'utf8')}`);
  const server = ['-i', '-f', at('sshd_config'), '-E', at('log')];
  await writeFile(
    at('sshd_config'),
    toConfig({
      HostKey: at('host'),
      AuthorizedKeysFile: at('authorized'),
      StrictModes: 'no', // the temporary folder belongs to everybody
      PermitRootLogin: 'prohibit-password',
      UsePAM: 'no',
      AcceptEnv: 'LANG LC_*', // as Debian has it
    }),
  );
  await writeFile(
    at('ssh_config'),
    toConfig({
      HostKeyAlias: 'headgate-host',
      UserKnownHostsFile: at('known'),
      GlobalKnownHostsFile: 'none',
      StrictHostKeyChecking: 'yes',
      IdentityFile: at('person'),
      IdentitiesOnly: 'yes',
      BatchMode: 'yes',
      User: userInfo().username,
      SendEnv: 'LANG LC_*',
      ProxyCommand: toShellWords(['/usr/sbin/sshd', ...server]),
    }),
  );
  return {
    words({ options = [], env, args }) {
      const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      const program = toShellWords(['env', ...variables, process.execPath, 'bin/headgate.js', ...args]);
      return [
        'ssh',
        '-F',
        at('ssh_config'),
        ...options,
        'headgate-host',
        `cd ${toShellWords([ROOT])} && exec ${program}`,
      ];
    },
    log: () => readFile(at('log'), 'utf8').catch(() => ''),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}

const toConfig = (settings: Record<string, string>): string =>
  Object.entries(settings)
    .map(([name, value]) => `${name} ${value}\n`)
    .join('');
