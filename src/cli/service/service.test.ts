import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { DOMParser, parseHTML } from 'linkedom';
import { needs } from '../../testing/needs.ts';
import { installService, readServiceStatus, uninstallService } from './install-service.ts';
import { launchd } from './launchd.ts';
import type { Command } from './service.ts';
import { systemd } from './systemd.ts';

const verifier = await needs('systemd-analyze');

const temporary = () => mkdtempDisposable(path.join(tmpdir(), 'headgate-service-'));
const plan = { command: ['/usr/bin/env', '/opt/it is 100%/$x "y".js', 'start'], home: '/srv/h ome', user: undefined };

test('a service is installed, updated and removed, and its home stays', async () => {
  await using folder = await temporary();
  const ran: string[] = [];
  const run = async (command: Command) => void ran.push(command.join(' '));
  const manager = systemd({ folder: path.join(folder.path, 'systemd/user'), isSystem: false });
  assert.equal((await readServiceStatus({ manager, plan }, run)).isInstalled, false);
  await installService({ manager, plan }, run);
  await installService({ manager, plan }, run);
  assert.deepEqual(ran.slice(0, 3), [
    'systemctl --user daemon-reload',
    'systemctl --user enable headgate.service',
    'systemctl --user restart headgate.service',
  ]);
  const { isCurrent, isRunning } = await readServiceStatus({ manager, plan: { ...plan, home: '/other' } }, run);
  assert.deepEqual([isCurrent, isRunning], [false, true]);
  assert.equal((await readServiceStatus({ manager, plan }, run)).isCurrent, true);
  assert.deepEqual(await readdir(path.dirname(manager.file)), ['headgate.service'], 'nothing temporary is left');
  ran.length = 0;
  await uninstallService(manager, run);
  assert.deepEqual(ran, ['systemctl --user disable --now headgate.service', 'systemctl --user daemon-reload']);
  await assert.rejects(uninstallService(manager, run), /No service is installed/);
});

test('a service of launchd is unloaded before it is loaded again or removed, if it is loaded', async () => {
  await using folder = await temporary();
  const manager = launchd({ folder: folder.path, log: '/x.log', uid: 501 });
  let isLoaded = false;
  let isStuck = false;
  const run = async ([, verb]: Command) => {
    if (verb === 'bootstrap' ? isLoaded : !isLoaded) throw new Error(`${verb}: 5: Input/output error`);
    if (verb === 'bootout' && isStuck) throw new Error('Boot-out failed: 36: Operation now in progress');
    if (verb !== 'print') isLoaded = verb === 'bootstrap';
  };
  await installService({ manager, plan }, run);
  await installService({ manager, plan: { ...plan, home: '/other' } }, run);
  assert.ok(isLoaded);
  isStuck = true;
  await assert.rejects(
    uninstallService(manager, run),
    /is still there, but launchctl bootout .* failed: Boot-out failed/,
  );
  isLoaded = false;
  await uninstallService(manager, run);
  assert.deepEqual(await readdir(folder.path), []);
});

test('a path with a line break is refused before anything is written', async () => {
  await using folder = await temporary();
  const run = async () => assert.fail('nothing may run');
  const wrong = [
    { ...plan, home: '/srv\nExecStartPre=/bin/evil' },
    { ...plan, command: ['/usr/bin/env', '/opt/\r'] },
  ];
  for (const manager of [
    systemd({ folder: folder.path, isSystem: false }),
    launchd({ folder: folder.path, log: '/x.log', uid: 501 }),
  ])
    for (const each of wrong)
      await assert.rejects(installService({ manager, plan: each }, run), { name: 'UsageError', message: /line break/ });
  assert.deepEqual(await readdir(folder.path), []);
});

test('without a plan, it is not known whether the file is current', async () => {
  await using folder = await temporary();
  const manager = systemd({ folder: folder.path, isSystem: true });
  await installService({ manager, plan }, async () => undefined);
  const found = await readServiceStatus({ manager, plan: undefined }, async () => undefined);
  assert.deepEqual([found.isInstalled, found.isCurrent, found.isRunning], [true, null, true]);
});

test('a file that somebody else wrote is neither replaced nor removed', async () => {
  await using folder = await temporary();
  const manager = systemd({ folder: folder.path, isSystem: true });
  await writeFile(manager.file, '[Service]\nExecStart=/mine\n');
  const run = async () => assert.fail('nothing may run');
  await assert.rejects(installService({ manager, plan }, run), /was not written by this command/);
  await assert.rejects(uninstallService(manager, run), /was not written by this command/);
  assert.match(await readFile(manager.file, 'utf8'), /mine/);
});

test('a service manager that fails is reported with what is done already', async () => {
  await using folder = await temporary();
  const manager = systemd({ folder: folder.path, isSystem: false });
  const run = async () => {
    throw new Error('Command failed: systemctl --user daemon-reload\nFailed to connect to bus: No medium found\n');
  };
  await assert.rejects(
    installService({ manager, plan }, run),
    /headgate\.service is written, but systemctl --user daemon-reload failed: Failed to connect to bus: No medium found/,
  );
  assert.equal((await readServiceStatus({ manager, plan }, run)).isRunning, false);
});

for (const isSystem of [false, true])
  test(`systemd accepts the unit of the ${isSystem ? 'machine' : 'person'}`, verifier, async () => {
    await using folder = await temporary();
    const manager = systemd({ folder: folder.path, isSystem });
    const program = path.join(folder.path, '50% of $x');
    await writeFile(program, '', { mode: 0o755 });
    const command = [program, ...plan.command];
    await writeFile(manager.file, manager.toText({ ...plan, command, user: isSystem ? 'root' : undefined }));
    const { stdout, stderr } = await promisify(execFile)(
      'systemd-analyze',
      ['verify', '--man=no', isSystem ? '--system' : '--user', manager.file],
      { env: { PATH: process.env.PATH, XDG_RUNTIME_DIR: folder.path, HOME: folder.path } },
    );
    assert.deepEqual([stdout, stderr.split('\n').filter((line) => line.includes('headgate'))], ['', []]);
  });

test('words of a unit keep their spaces, quotes, percent and dollar signs', () => {
  const text = systemd({ folder: '/', isSystem: false }).toText(plan);
  assert.match(text, /^ExecStart="\/usr\/bin\/env" "\/opt\/it is 100%%\/\$\$x \\"y\\"\.js" "start"$/m);
  assert.match(text, /^Environment="HEADGATE_HOME=\/srv\/h ome"$/m);
});

/** The keys of launchd.plist(5) that the file may use, with the type of their values. */
const LAUNCHD_KEYS: Readonly<Record<string, string>> = {
  Label: 'STRING',
  ProgramArguments: 'ARRAY',
  EnvironmentVariables: 'DICT',
  UserName: 'STRING',
  RunAtLoad: 'TRUE',
  KeepAlive: 'DICT',
  ExitTimeOut: 'INTEGER',
  Umask: 'INTEGER',
  StandardErrorPath: 'STRING',
};

test('launchd knows each key of the property list, with this type of value', () => {
  const text = launchd({ folder: '/x', log: '/x/log', uid: undefined }).toText({ ...plan, user: 'ada' });
  const document = new DOMParser().parseFromString(text, 'text/xml');
  const [dict = assert.fail()] = document.querySelectorAll('plist > dict');
  const parts = [...dict.children];
  const pairs = parts.flatMap((part, n) =>
    n % 2 === 0 ? [[part.textContent, parts[n + 1]?.tagName.toUpperCase()]] : [],
  );
  assert.ok(parts.every((part, n) => (part.tagName === 'key') === (n % 2 === 0)));
  assert.deepEqual(Object.fromEntries(pairs), LAUNCHD_KEYS);
  assert.equal(text.match(/<\w[^>/]*>/g)?.length, text.match(/<\/\w+>/g)?.length, 'each element ends');
});

test('the property list of launchd has the words of the command', () => {
  const manager = launchd({ folder: '/x', log: '/x/a&b.log', uid: 501 });
  const { document } = parseHTML(manager.toText({ ...plan, command: ['/bin/a', '<b> & c'] }));
  const words = [...document.querySelectorAll('array > string')].map((each) => each.textContent);
  assert.deepEqual(words, ['/bin/a', '<b> & c']);
  assert.deepEqual(manager.activate, [['launchctl', 'bootstrap', 'gui/501', '/x/headgate.plist']]);
  assert.match(manager.toText(plan), /<string>\/x\/a&amp;b\.log<\/string>/);
});
