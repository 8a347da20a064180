import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { findInstalled } from '../../src/agent/process/program-fixture.ts';
import { createProcessRunner } from '../../src/agent/process/runner.ts';
import { decideHost } from '../../src/agent/sandbox/network/host-rules.ts';
import { openSandbox } from '../../src/agent/sandbox/open-sandbox.ts';
import { holdFolder } from '../../src/agent/tools/files/held-folder.ts';
import { systemClock } from '../../src/clock.ts';
import { createEgressProxy } from '../../src/egress/proxy/egress-proxy.ts';
import { randomIds } from '../../src/ids.ts';
import type { Arena } from './arena.ts';

/** A sandbox to be tried. */
export interface Contender {
  name: string;
  /** Runs a command to its end; what it printed. */
  run(command: string): Promise<string>;
}

/** Names that an attacker owns: allowed, and leading to this machine. */
const NAMES: Record<string, string[]> = {
  'private.allowed.test': ['127.0.0.1'],
  'mixed.allowed.test': ['93.184.216.34', '127.0.0.1'],
};

const lookup: LookupFunction = (host, _, callback) => {
  const addresses = (NAMES[host] ?? []).map((address) => ({ address, family: 4 }));
  callback(addresses.length === 0 ? new Error('not found') : null, addresses);
};

const TIMEOUT_MS = 60_000;

/** Headgate's sandbox as the daemon uses it. */
export async function openHeadgate(arena: Arena): Promise<Contender> {
  const { environment, headgateHome, port } = arena;
  const [bash, bwrap] = await Promise.all([findInstalled('bash'), findInstalled('bwrap')]);
  const { sandbox, limiter } = await openSandbox({
    home: headgateHome,
    environment,
    clock: systemClock,
    ids: randomIds,
    programs: { bash, bwrap },
    settings: {
      sandbox: 'required',
      homePaths: [],
      limits: { processes: 200, memoryMb: 1_024, fileMb: 64, tmpMb: 64 },
    },
    homes: [],
  });
  if (sandbox.kind === 'none') throw new Error(sandbox.reason);
  const runner = createProcessRunner({
    clock: systemClock,
    environment,
    sandbox,
    bash,
    limiter,
    proxy: createEgressProxy({ lookup }),
    ids: randomIds,
    home: headgateHome,
  });
  const hosts = {
    configured: [`*.allowed.test:${port}`, '*.allowed.test'],
    registries: ['registry.npmjs.org'],
    named: [],
  };
  return {
    name: 'headgate',
    async run(command) {
      await using work = await holdFolder(arena.work);
      await using bare = await holdFolder(arena.bare);
      const printed: Buffer[] = [];
      await runner.run(
        {
          command: arena.prelude + command,
          folder: work,
          timeoutMs: TIMEOUT_MS,
          access: { others: [bare], tier: 'workspace', writable: [] },
          network: { decide: (target) => decideHost(hosts, target), onConnection: () => undefined },
        },
        {
          signal: new AbortController().signal,
          onProcess: async () => undefined,
          onOutput: async (bytes) => void printed.push(bytes),
        },
      );
      return Buffer.concat(printed).toString();
    },
  };
}

/** `@anthropic-ai/sandbox-runtime`, installed in a folder outside of the repository, with settings as close as they get. */
export async function openSandboxRuntime(arena: Arena, folder: string): Promise<Contender> {
  const settings = path.join(path.dirname(arena.headgateHome), 'srt.json');
  await writeFile(
    settings,
    JSON.stringify({
      network: { allowedDomains: ['allowed.test', '*.allowed.test', 'registry.npmjs.org'], deniedDomains: [] },
      filesystem: {
        denyRead: [arena.userHome, arena.headgateHome, '/root', '/home', '/etc/shadow'],
        allowWrite: [arena.work, arena.bare, '/tmp'],
        denyWrite: [],
      },
    }),
  );
  const cli = path.join(folder, 'node_modules/@anthropic-ai/sandbox-runtime/dist/cli.js');
  return {
    name: 'sandbox-runtime',
    run: (command) => runOutside([process.execPath, cli, '--settings', settings, '-c', arena.prelude + command], arena),
  };
}

/** No sandbox at all: shows that a way out is noticed. */
export const openNothing = (arena: Arena): Contender => ({
  name: 'nothing',
  run: (command) => runOutside(['bash', '-c', arena.prelude + command], arena),
});

async function runOutside([program = '', ...args]: string[], { work, environment }: Arena): Promise<string> {
  const child = spawn(program, args, {
    cwd: work,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
  });
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return `${out}\n${errors}`;
}
