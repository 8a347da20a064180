import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { wordsOf } from '../../../protocol/words-of.ts';
import type { Program } from '../../agent/process/programs.ts';
import { createProcessRunner } from '../../agent/process/runner.ts';
import type { Sandbox } from '../../agent/process/sandbox.ts';
import type { Limiter, LimitWay } from '../../agent/sandbox/limits/limits.ts';
import { openSandbox } from '../../agent/sandbox/open-sandbox.ts';
import { holdFolder } from '../../agent/tools/files/held-folder.ts';
import { systemClock } from '../../clock.ts';
import { type Connection, createEgressProxy } from '../../egress/proxy/egress-proxy.ts';
import { randomIds } from '../../ids.ts';
import type { Config } from '../config/config.ts';
import { readOtherHomes } from '../other-homes.ts';
import { findPrograms } from '../programs.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

interface SandboxSurroundings {
  /** A folder that exists: the home, or the nearest folder above it. */
  folder: string;
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
  /** Folders that agents write to. */
  avoid: readonly string[];
}

/** The sandbox of commands, as a daemon that starts now would have it. */
export async function checkSandbox(around: SandboxSurroundings): Promise<Finding> {
  const { sandbox, notices } = await open(around);
  return toSandboxFinding(sandbox, notices);
}

/** Every part of the sandbox, tried out. */
export async function checkSandboxParts(around: SandboxSurroundings): Promise<Finding[]> {
  const { sandbox, limiter, notices, programs } = await open(around);
  const first = await toSandboxFinding(sandbox, notices);
  if (sandbox.kind === 'none') return [first, toLimitFinding(limiter)];
  const tried = await tryParts({ sandbox, limiter, bash: programs.bash, around }).catch((error: unknown) => [
    problem('trial', `a command in the sandbox failed: ${wordsOf(error)}`, 'Fix that first.'),
  ]);
  return [first, toTierFinding(around.config), ...tried, toLimitFinding(limiter)];
}

async function open({ folder, config, environment, avoid }: SandboxSurroundings) {
  const programs = await findPrograms({ environment, avoid });
  const opened = await openSandbox({
    home: folder,
    environment,
    clock: systemClock,
    ids: randomIds,
    programs,
    settings: config.tools,
    homes: await readOtherHomes(process.getuid?.()),
    isTrial: true,
  });
  return { sandbox: opened.sandbox, limiter: opened.limiter, notices: opened.notices, programs };
}

async function toSandboxFinding(sandbox: Sandbox, notices: readonly string[]): Promise<Finding> {
  if (sandbox.kind === 'bubblewrap') {
    const text = 'commands run in bubblewrap, in namespaces of their own';
    if (notices.length === 0) return ok('sandbox', text);
    return warning('sandbox', `${text}, but not as they could`, notices.join(' '));
  }
  const mend = await findMend(sandbox.reason);
  return sandbox.required
    ? problem('sandbox', `${sandbox.reason}, and tools.sandbox is "required"`, mend)
    : warning('sandbox', `commands run without a sandbox: ${sandbox.reason}`, mend);
}

const isOn = async (file: string, value: string): Promise<boolean> =>
  (await readFile(file, 'utf8').catch(() => '')).trim() === value; // not on this kernel

/** What usually stands in the way. */
async function findMend(reason: string): Promise<string> {
  if (process.platform !== 'linux') return 'There is a sandbox on Linux only.';
  if (reason.includes('is not installed')) return 'apt-get install bubblewrap (docs/operating.md)';
  if (await isOn('/proc/sys/kernel/apparmor_restrict_unprivileged_userns', '1'))
    return 'Ubuntu keeps programs from making user namespaces: install a profile that allows it to bubblewrap (apt-get install apparmor-profiles; ln -s /usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/), or set kernel.apparmor_restrict_unprivileged_userns=0';
  if (await isOn('/proc/sys/kernel/unprivileged_userns_clone', '0')) return 'sysctl kernel.unprivileged_userns_clone=1';
  if (await isOn('/proc/sys/user/max_user_namespaces', '0')) return 'sysctl user.max_user_namespaces=15000';
  if (await isContainer())
    return 'This is a container: start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined, so that it may make namespaces';
  return 'See docs/operating.md';
}

async function isContainer(): Promise<boolean> {
  const marks = ['/.dockerenv', '/run/.containerenv'].map((file) =>
    readFile(file).then(
      () => true,
      () => false, // not this kind
    ),
  );
  return (await Promise.all(marks)).includes(true);
}

const toTierFinding = ({ tools }: Config): Finding =>
  ok(
    'tier',
    tools.tier === 'workspace'
      ? 'workspace: commands write the folders of their workstream, except for protected paths'
      : 'read-only: commands write only their private /tmp and home',
  );

const WAYS: Record<LimitWay, string> = {
  'cgroup v2': 'control groups of version 2',
  'cgroup v1': 'control groups of version 1',
  watcher: 'a watcher that looks ten times a second, because no control groups can be made',
};

function toLimitFinding({ way, limits }: Limiter): Finding {
  const text = `${limits.processes} processes and ${Math.round(limits.memoryBytes / 2 ** 20)} MiB of memory for each command, by ${WAYS[way]}`;
  return way === 'watcher'
    ? warning('limits', text, 'Run Headgate as a service with Delegate=yes (docs/operating.md)')
    : ok('limits', text);
}

interface Trial {
  sandbox: Sandbox;
  limiter: Limiter;
  bash: Program;
  around: SandboxSurroundings;
}

/** Asks the proxy for a host that is not allowed, and looks around. */
const TRIAL = [
  'grep -q "^NoNewPrivs:.*1$" /proc/self/status && grep -q "^Seccomp:.*2$" /proc/self/status && echo FILTERED',
  '[ -z "$(ls -A ~/.ssh ~/.aws 2>/dev/null)" ] && echo HIDDEN',
  '[ "$(ls /sys/class/net)" = lo ] || [ "$(grep -c : /proc/net/dev)" = 1 ] && echo ALONE',
  'exec 3<>/dev/tcp/127.0.0.1/39128 && printf "CONNECT headgate.invalid:443 HTTP/1.1\\r\\n\\r\\n" >&3 && read -r line <&3',
].join('\n');

async function tryParts({ sandbox, limiter, bash, around }: Trial): Promise<Finding[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-check-'));
  try {
    const { environment } = around;
    const runner = createProcessRunner({
      clock: systemClock,
      environment,
      sandbox,
      bash,
      limiter,
      proxy: createEgressProxy(),
      ids: randomIds,
      home: around.folder,
    });
    await using held = await holdFolder(folder);
    const connections: Connection[] = [];
    let printed = '';
    const result = await runner.run(
      {
        command: TRIAL,
        folder: held,
        timeoutMs: 10_000,
        access: { others: [], tier: 'read-only', writable: [] }, // makes nothing
        network: { decide: () => ({ kind: 'deny' }), onConnection: (one) => connections.push(one) },
      },
      {
        signal: new AbortController().signal,
        onProcess: async () => undefined,
        onOutput: async (bytes) => {
          printed += bytes.toString();
        },
      },
    );
    if (result.kind === 'failed') throw new Error(result.message);
    return toFindings(
      printed,
      connections.some(({ host }) => host === 'headgate.invalid'),
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function toFindings(printed: string, isProxied: boolean): Finding[] {
  const has = (word: string) => printed.split('\n').includes(word);
  const see = (name: string, works: boolean, { good, bad }: { good: string; bad: string }): Finding =>
    works ? ok(name, good) : problem(name, bad, 'Please report this, with the output of this command.');
  return [
    see('filter', has('FILTERED'), {
      good: 'system calls that lead out are refused, and no program gains rights',
      bad: 'the filter of system calls is not in force',
    }),
    see('homes', has('HIDDEN'), { good: 'keys and credentials in homes are out of reach', bad: 'homes can be read' }),
    see('network', has('ALONE'), {
      good: 'commands have a network of their own',
      bad: 'commands see the network of this machine',
    }),
    see('proxy', isProxied, {
      good: 'hosts are reached through the proxy, which refused a host that is not allowed',
      bad: 'commands do not reach the proxy, so they have no network at all',
    }),
  ];
}
