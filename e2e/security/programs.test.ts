import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { needsAs } from '../../src/testing/needs.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { startNode } from '../support/daemon/node-process.ts';
import { users } from '../support/daemon/users.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { runAsAgent, useTool } from '../support/model/use-tool.ts';

const SYSTEM_PATH = '/usr/local/bin:/usr/bin:/bin';
const NAMES = ['bash', 'sh', 'bwrap', 'rg', 'git', 'env', 'ps', 'ls', 'true', 'printf'];

const model = await startScriptedModel();
after(() => model.close());

interface Ground {
  root: string;
  work: string;
  home: string;
  /** Gets a line whenever a planted program runs outside the sandbox. */
  marks: string;
  uid: number | undefined;
  /** PATH entries in which programs can be planted, and the folders they resolve to. */
  entries: string[];
  folders: string[];
}

/** Not below /tmp, which is private inside the sandbox, because sandboxed commands must see the planted programs, too. */
async function layOut(t: TestContext, uid?: number): Promise<Ground> {
  const root = await mkdtemp('/var/tmp/headgate-programs-');
  t.after(() => rm(root, { recursive: true, force: true }));
  const at = (name: string) => path.join(root, name);
  const [work, home, marks] = [at('work'), at('me/home'), at('marks')];
  const folders = [
    path.join(work, 'bin'),
    work, // for the relative and empty entries, because the daemon is started there
    path.join(work, 'relative'),
    path.join(work, 'node_modules/.bin'),
    at('me/project/node_modules/.bin'),
    at('me/bin'),
    at('open'),
  ];
  for (const folder of [...folders, home]) await mkdir(folder, { recursive: true });
  await chmod(home, 0o700);
  await chmod(at('open'), 0o777);
  await symlink(path.join(work, 'bin'), at('me/link'));
  await mkdir(at('me/made-of-links'));
  for (const name of NAMES) await symlink(path.join(work, 'bin', name), at(`me/made-of-links/${name}`));
  await writeFile(marks, '');
  await chmod(root, 0o755);
  if (uid !== undefined) {
    const owned = [work, path.join(work, 'node_modules'), at('me'), at('me/project'), ...folders];
    for (const place of [...owned, at('me/project/node_modules'), home, marks]) await chown(place, uid, uid);
  }
  const entries = [
    ...['', '.', 'relative', './relative/../bin'],
    ...[folders[0] ?? '', `/usr/..${work}/bin`, at('me/link'), at('me/made-of-links'), path.join(work, 'later')],
    ...[work, path.join(work, 'node_modules/.bin'), at('me/project/node_modules/.bin'), at('me/bin'), at('open')],
  ];
  return { root, work, home, marks, uid, entries, folders };
}

const scriptFor = ({ marks, home }: Ground, name: string): string =>
  `#!/bin/sh\n(echo "$0 $(/bin/cat ${home}/token)" >>${marks}) 2>/dev/null\nexec /usr/bin/${name} "$@"\n`;

async function plant(ground: Ground): Promise<void> {
  for (const folder of ground.folders) {
    for (const name of NAMES) await writeFile(path.join(folder, name), scriptFor(ground, name), { mode: 0o755 });
  }
}

/** How a sandboxed command plants programs: in every folder where it may write. */
const plantingCommand = (ground: Ground): string =>
  [...ground.folders, path.join(ground.work, 'later')]
    .flatMap((folder) => [`mkdir -p ${folder}`, ...NAMES.map((name) => toWriting(ground, path.join(folder, name)))])
    .join('\n');

const toWriting = (ground: Ground, file: string): string =>
  `cat >${file} <<'END' && chmod +x ${file}\n${scriptFor(ground, path.basename(file))}END`;

const start = (ground: Ground, sandbox: string, PATH: string) =>
  startDaemon({
    ...{ home: ground.home, cwd: ground.work, model: model.url, args: ['--workdir', ground.work], env: { PATH } },
    ...(ground.uid !== undefined && { uid: ground.uid }),
    config: { tools: { sandbox } },
  });

const cast = await Promise.all(
  users.map(async (user) => ({
    ...user,
    options: await needsAs(user.uid, 'an open repository', 'bubblewrap', 'ripgrep'),
  })),
);

for (const { who, uid, options } of cast) {
  for (const sandbox of ['auto', 'required']) {
    test(
      `${who}, sandbox ${sandbox}: programs planted in any kind of PATH entry never run outside the sandbox`,
      options,
      async (t) => {
        const ground = await layOut(t, uid);
        const PATH = [...ground.entries, SYSTEM_PATH, ...ground.entries].join(':');
        await using daemon = await start(ground, sandbox, PATH);
        const stage = { daemon, model };
        assert.equal((await daemon.get('/health')).body.sandbox.active, true);
        const use = async () => {
          const token = await runAsAgent(stage, `cat ${ground.home}/token; ls; git --version; echo end`);
          assert.match(token, /No such file[\s\S]*end\n$/);
          await writeFile(path.join(ground.work, 'notes.txt'), 'a needle');
          const found = await useTool(stage, { name: 'search', arguments: { query: 'needle' } });
          assert.match(found, /^notes\.txt:1: a needle$/m);
        };
        await runAsAgent(stage, plantingCommand(ground));
        const planted = await readFile(path.join(ground.work, 'bin/bwrap'), 'utf8');
        assert.equal(planted, scriptFor(ground, 'bwrap'));
        await plant(ground);
        await use();
        await daemon.restart();
        await use();
        const doctor = await spawnHeadgate({
          ...{ args: ['doctor', '--home', ground.home], cwd: ground.work, uid },
          env: { PATH, HOME: path.dirname(ground.home), OPENAI_BASE_URL: model.url },
        });
        await doctor.exited;
        assert.match(doctor.stdout(), /^✔ rg +\/usr\/(local\/)?bin\/rg /m);
        assert.equal(await readFile(ground.marks, 'utf8'), '');
      },
    );
  }
}

test('programs found only in writable PATH entries are not used, and banner, card, health and doctor say so', async (t) => {
  const ground = await layOut(t);
  await plant(ground);
  const PATH = ground.entries.join(':');
  await using daemon = await start(ground, 'auto', PATH);
  const { stdout } = daemon.output();
  assert.match(
    stdout,
    /^ {2}Sandbox {2}off: bubblewrap was found only at bwrap and is not used: the PATH entry is not an absolute path$/m,
  );
  assert.match(stdout, /^ {2}Note {5}bash was found only at bash and is not used: .*$/m);
  const refused = await useTool({ daemon, model }, { name: 'search', arguments: { query: 'needle' } });
  assert.equal(refused, '[no matches]');
  const doctor = await runHeadgate(['doctor', '--home', ground.home], { PATH, OPENAI_BASE_URL: model.url });
  assert.match(doctor.stdout, /^✖ bash +was found only at .* and is not used: .*: the agent cannot run commands$/m);
  assert.equal(await readFile(ground.marks, 'utf8'), '');
});

test('a node runs the programs it found at startup, whatever the gateway writes to its folders', async (t) => {
  const ground = await layOut(t);
  await using daemon = await startDaemon({ config: { nodes: { '*': { allow: ['system.*', 'file.*'] } } } });
  const pathOf = (folder: string) => `:.:${folder}:${folder}/node_modules/.bin:${SYSTEM_PATH}`;
  await using node = await startNode(daemon, ['--allow', 'printf *', 'ls'], (folder) => ({ PATH: pathOf(folder) }));
  const here = { HEADGATE_HOME: daemon.home };
  assert.equal((await runHeadgate(['nodes', 'approve', await node.code()], here)).code, 0);
  await node.child.printed(/^Connected\.$/m);
  const client = await daemon.client();
  const run = (...argv: string[]) =>
    client.call('node.invoke', {
      ...{ nodeId: node.nodeId(), command: 'system.run', params: { argv, cwd: node.folder } },
      idempotencyKey: argv.join(' '),
    });
  await plant({ ...ground, folders: [node.folder] });
  const printed = await run('printf', 'from the system');
  assert.match(JSON.stringify(printed), /"stdout":"from the system"/);
  await run('ls');
  assert.equal(await readFile(ground.marks, 'utf8'), '');
});
