import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'headgate-e2e-'));
after(() => rm(folder, { recursive: true, force: true }));

const home = path.join(folder, 'home');
const demo = { HOME: folder, HEADGATE_MODEL: 'demo' };

/** A failed start: its exit code, and stderr without the log. */
async function fail(args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await runHeadgate(['start', '--port', '0', '--home', home, ...args], {
    ...demo,
    ...env,
  });
  assert.equal(stdout, '');
  const lines = stderr.split('\n').filter((line) => line !== '' && !line.startsWith('{"level"'));
  return { code, lines };
}

test('an unknown flag, command or value is a usage error: one line and exit code 2', async () => {
  const told = (what: string, help = 'headgate') => `headgate: ${what}. See ${help} --help.`;
  assert.deepEqual(await fail(['--prot', '1']), {
    code: 2,
    lines: [told("unknown option '--prot' (Did you mean --port?)", 'headgate start')],
  });
  assert.deepEqual(await runHeadgate(['dance']), {
    code: 2,
    stdout: '',
    stderr: `${told("unknown command 'dance'")}\n`,
  });
  assert.equal((await runHeadgate(['chatt'])).stderr, `${told("unknown command 'chatt' (Did you mean chat?)")}\n`);
  for (const [args, what, help] of [
    [['cron', 'add', '--bad'], "unknown option '--bad'", 'headgate cron add'],
    [['cron', 'list', 'x'], "list takes no argument: 'x'", 'headgate cron list'],
    [['nodes', 'approve'], "missing required argument 'code'", 'headgate nodes approve'],
    [['node', 'run'], "required option '--gateway <address>' not specified", 'headgate node run'],
  ] as const)
    assert.equal((await runHeadgate([...args])).stderr, `${told(what, help)}\n`);
  assert.equal((await fail(['--port', '70000'])).code, 2);
  assert.equal((await fail([], { SERVICE_AUTH_ENABLED: 'perhaps' })).code, 2);
});

test('the error for a busy port names --port, and nothing is created', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const unmade = path.join(folder, 'unmade');
  const failure = await fail(['--port', String(port), '--home', unmade]);
  await new Promise((resolve) => other.close(resolve));
  const lines = [`headgate: Port ${port} on 127.0.0.1 is in use. Choose another with --port N.`];
  assert.deepEqual([failure, existsSync(unmade)], [{ code: 1, lines }, false]);
});

test('a file cannot be used as home', async () => {
  const file = path.join(folder, 'file');
  await writeFile(file, '');
  const { code, lines } = await fail(['--home', file]);
  assert.equal(code, 1);
  assert.match(lines.join('\n'), /^headgate: The home folder .*file cannot be used: .*Choose another with --home\.$/);
});

test('a home that another daemon uses is refused, and that daemon goes on', async () => {
  await using daemon = await startDaemon();
  const lines = [
    `headgate: Another Headgate daemon is using ${daemon.home}. Stop it first, or give this one its own folder with --home.`,
  ];
  assert.deepEqual(await fail(['--home', daemon.home]), { code: 1, lines });
  assert.equal((await daemon.get('/health')).status, 200);
  assert.equal(JSON.parse(await readFile(path.join(daemon.home, 'daemon.json'), 'utf8')).pid, daemon.pid);
});

test('a database of a newer Headgate is refused and not changed', async () => {
  await using daemon = await startDaemon();
  await daemon.stop();
  const file = path.join(daemon.home, 'headgate.db');
  const versionOf = (change: string) => {
    using database = new DatabaseSync(file);
    database.exec(change);
    return database.prepare("select value from meta where key = 'schema_version'").get()?.value;
  };
  versionOf("update meta set value = '999' where key in ('schema_version', 'schema_usable_from')");
  const copies = async () => (await readdir(daemon.home)).filter((name) => name.startsWith('headgate.db.'));
  const before = [await readFile(file), await copies()];
  const { code, lines } = await fail(['--home', daemon.home]);
  assert.equal(code, 1);
  assert.match(
    lines.join('\n'),
    /^headgate: [^\n]*headgate\.db has schema version 999, but this Headgate knows versions/,
  );
  assert.deepEqual([await readFile(file), await copies()], before);
  assert.equal(versionOf('select 1'), '999');
});

test('without authentication the daemon listens on loopback addresses only', async () => {
  const { code, lines } = await fail(['--host', '0.0.0.0', '--no-auth']);
  assert.equal(code, 1);
  assert.match(lines.join('\n'), /^headgate: Without authentication, Headgate listens only on a loopback address/);
});

test('the error for a config.json that is not JSON gives the position, and the file is not changed', async () => {
  const own = await mkdtemp(path.join(folder, 'home-'));
  const file = path.join(own, 'config.json');
  await writeFile(file, '{ "retentionDays": }');
  assert.deepEqual(await fail(['--home', own]), {
    code: 1,
    lines: [`headgate: ${file} is not JSON (JSON5 is fine): invalid character '}' at 1:20. The file was not changed.`],
  });
  assert.equal(await readFile(file, 'utf8'), '{ "retentionDays": }');
});

test('the error for an unknown model lists the known models', async () => {
  const { code, lines } = await fail(['--model', 'hal'], { HEADGATE_MODEL: '' });
  assert.equal(code, 1);
  assert.match(lines.join('\n'), /^headgate: Unknown model "hal"\. Known: demo;/);
});

test('the user’s home folder is refused as working directory', async () => {
  const { code, lines } = await fail(['--workdir', '~']);
  assert.equal(code, 1);
  assert.match(lines.join('\n'), /^headgate: Working directory .*: it is your home folder/);
});

test('a Node.js version that is too old is reported before anything is loaded', async () => {
  const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'20.20.2'}})`;
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const running = promisify(execFile)(process.execPath, ['--import', pretend, 'bin/headgate.js'], { cwd: root });
  await assert.rejects(running, {
    code: 1,
    stdout: '',
    stderr:
      'headgate: requires Node.js 24 or newer; this is 20.20.2. In a clone, run npx headgate, which uses the right version.\n',
  });
});

test('without a build the command says how to build', async () => {
  const copy = path.join(folder, 'unbuilt/bin/headgate.js');
  await cp(new URL('../../bin/headgate.js', import.meta.url), copy);
  await writeFile(path.join(folder, 'unbuilt/package.json'), '{ "type": "module" }');
  await assert.rejects(promisify(execFile)(process.execPath, [copy]), {
    code: 1,
    stdout: '',
    stderr: 'headgate: not built yet. Run: npm run build\n',
  });
});
