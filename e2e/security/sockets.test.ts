import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmod, chown, copyFile, link, mkdir, mkdtemp, open, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { needs, needsAs } from '../../src/testing/needs.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { INHERITED_FD } from '../support/daemon/daemon-process.ts';
import { type User, users } from '../support/daemon/users.ts';
import { pause, within } from '../support/deadline.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { runAsAgent } from '../support/model/use-tool.ts';

const model = await startScriptedModel();
after(() => model.close());

const linux = await needs('Linux');
const attackable = await needs('curl', 'perl');
/** Each user, with the requirements of tests of their daemon. */
const cast = await Promise.all(
  users.map(async (user) => ({
    ...user,
    confined: await needsAs(user.uid, 'an open repository', 'bubblewrap', 'curl', 'perl'),
  })),
);

/** Not below /tmp, which is private inside the sandbox, because the sockets must be out of reach for another reason. */
async function start(t: TestContext, { uid }: User, args: string[] = []) {
  const root = await mkdtemp('/var/tmp/headgate-sockets-');
  // The daemon writes into the folder until it has ended.
  const started = new AsyncDisposableStack();
  t.after(() => started.disposeAsync());
  started.defer(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const [work, home] = [path.join(root, 'me/work'), path.join(root, 'me/home')];
  for (const folder of [work, home]) await mkdir(folder, { recursive: true });
  await chmod(root, 0o755);
  await chmod(home, 0o700);
  if (uid !== undefined) for (const folder of [path.dirname(work), work, home]) await chown(folder, uid, uid);
  // The folder of the tests may be hidden by the sandbox.
  await link(process.execPath, path.join(work, 'node')).catch(() =>
    copyFile(process.execPath, path.join(work, 'node')),
  );
  const options = { home, model: model.url, args: ['--workdir', work, ...args], cwd: work };
  const daemon = started.use(await startDaemon({ ...options, ...(uid !== undefined && { uid }) }));
  const { active } = (await daemon.get('/health')).body.sandbox;
  return { root, work, daemon, isSandboxed: active };
}

/** Services such as Docker or ssh-agent; records each line that reaches one. */
async function serve(t: TestContext, root: string, work: string) {
  const reached: string[] = [];
  const name = `headgate-test-${path.basename(root)}`;
  const streams = [path.join(root, 'docker.sock'), path.join(work, 'agent.sock'), `\0${name}`];
  for (const place of streams) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined); // the client has disconnected
      socket.on('data', (bytes) => {
        reached.push(bytes.toString());
        socket.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(place, resolve));
    t.after(() => void server.close());
    if (!place.startsWith('\0')) await chmod(place, 0o777);
  }
  // Node has no datagram sockets of this kind.
  const datagrams = [path.join(root, 'log.sock'), `\0${name}-log`];
  for (const place of datagrams) {
    const server = spawn('/usr/bin/perl', ['-MSocket', '-e', DATAGRAM_SERVER, place.replace('\0', '@')]);
    t.after(() => void server.kill('SIGKILL'));
    const up = Promise.withResolvers<void>();
    server.stdout.on('data', (bytes: Buffer) => {
      up.resolve();
      reached.push(
        ...bytes
          .toString()
          .split('\n')
          .filter((line) => line !== '' && line !== 'up'),
      );
    });
    await within(up.promise, 60_000, () => 'a datagram socket');
  }
  return { reached, streams, datagrams };
}

const DATAGRAM_SERVER = `$| = 1; my $at = shift; $at =~ s/^@/\\0/;
socket(S, AF_UNIX, SOCK_DGRAM, 0) or die; bind(S, pack_sockaddr_un($at)) or die "$!"; chmod 0777, $at unless $at =~ /^\\0/;
print "up\\n"; while (defined recv(S, my $line, 100, 0)) { print "$line\\n" }`;

/** Tries every socket in every way, and prints the operations that must still work. */
const PERL_ATTACK = `my ($streams, $datagrams) = map { [map { s/^@/\\0/r } split /,/] } @ARGV;
for my $at (@$streams) { socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack_sockaddr_un($at)) && syswrite(S, "perl stream") }
for my $at (@$streams) { socketpair(P, Q, AF_UNIX, SOCK_STREAM, 0) && connect(P, pack_sockaddr_un($at)) && syswrite(P, "stream of a pair") }
for my $at (@$datagrams) { socket(S, AF_UNIX, SOCK_DGRAM, 0) && send(S, "perl datagram", 0, pack_sockaddr_un($at)) }
for my $type (SOCK_DGRAM, SOCK_RAW) { for my $at (@$datagrams) {
  socketpair(P, Q, AF_UNIX, $type, 0) && (send(P, "sent by one of a pair", 0, pack_sockaddr_un($at)), connect(Q, pack_sockaddr_un($at)) && send(Q, "sent by the other", 0)) } }
socketpair(P, Q, AF_UNIX, SOCK_STREAM, 0) && syswrite(P, "pairs work\\n") && print scalar <Q>;
syscall((POSIX::uname())[4] eq "x86_64" ? 250 : 219, 6, -4, 0, 0); print "keyring: " . ($!{EPERM} ? "refused" : $!) . "\\n";`;

const NODE_ATTACK = `const net = require('node:net');
for (const at of process.argv[1].split(',')) { const s = net.connect(at.replace('@', '\\0'), () => s.write('node stream')); s.on('error', (e) => console.log(e.code)); }
console.log(require('node:child_process').execFileSync('/bin/echo', ['children work']).toString().trim());`;

function attackOf({ streams, datagrams }: { streams: string[]; datagrams: string[] }): string {
  const [first = '', , abstract = ''] = streams;
  const list = (places: string[]) => places.map((place) => place.replace('\0', '@')).join(',');
  return [
    `/usr/bin/perl -MSocket -MPOSIX -e '${PERL_ATTACK}' '${list(streams)}' '${list(datagrams)}'`,
    `./node -e "${NODE_ATTACK.replaceAll('\\0', '\\\\0')}" '${list(streams)}'`,
    `curl -s -m 2 --unix-socket ${first} http://x/`,
    `curl -s -m 2 --abstract-unix-socket ${abstract.slice(1)} http://x/`,
    `(sleep 0.1; curl -s -m 2 --unix-socket ${first} http://x/background) & wait`,
    'echo end',
  ].join('\n');
}

for (const user of cast) {
  test(
    `${user.who}: a sandboxed command reaches no Unix socket, by path or abstract, and no keyring; pairs work`,
    user.confined,
    async (t) => {
      const { root, work, daemon, isSandboxed } = await start(t, user);
      assert.ok(isSandboxed);
      const services = await serve(t, root, work);
      const attack = attackOf(services);
      const printed = await runAsAgent({ daemon, model }, attack);
      assert.match(printed, /^pairs work$/m);
      assert.match(printed, /^children work$/m);
      assert.match(printed, /^keyring: refused$/m);
      assert.match(printed, /EAFNOSUPPORT/);
      assert.match(printed, /end\n/);
      assert.deepEqual(services.reached, []);
      await promisify(execFile)('/bin/bash', ['-c', attack], { cwd: work, env: { PATH: '/usr/bin:/bin' } });
      for (const way of ['perl stream', 'perl datagram', 'sent by one of a pair', 'node stream', 'GET / HTTP/1.1']) {
        const isReached = () => linesOf(services.reached).includes(way);
        for (let tries = 0; tries < 1_000 && !isReached(); tries += 1) await pause(20);
        assert.ok(isReached(), `outside the sandbox it is reached: ${way}`);
      }
    },
  );
}

const linesOf = (texts: readonly string[]): string[] => texts.flatMap((text) => text.split(/\r?\n/));

const NEW = '/v1/api/workstreams/new';

/** Ways to create a workstream over the network, each with its own name; they print the answer. */
function intrusionsOf(host: string, port: number): string[] {
  const bodyOf = (way: string) => JSON.stringify({ name: `intruder-${way}` });
  const requestOf = (way: string) =>
    [
      ...[`POST ${NEW} HTTP/1.1`, `Host: 127.0.0.1:${port}`, 'Content-Type: application/json'],
      ...[`Content-Length: ${bodyOf(way).length}`, 'Connection: close', '', bodyOf(way)],
    ].join('\\r\\n');
  const url = `http://${host}:${port}${NEW}`;
  const curl = (way: string) => `curl -s -m 5 -H 'Content-Type: application/json' -d '${bodyOf(way)}' ${url}`;
  const send = (way: string) => `exec 9<>/dev/tcp/${host}/${port}; printf '${requestOf(way)}' >&9`;
  const node = (code: string) => `./node -e '${code}'`;
  const socket = (path: string) =>
    `const s = new WebSocket("ws://${host}:${port}${path}"); s.onopen = () => process.exit(console.log("opened")); s.onerror = () => process.exit()`;
  const reset = `const s = require("node:net").connect(${port}, "${host}", () => s.write(process.argv[1].replaceAll("\\\\r\\\\n", "\\r\\n"), () => s.resetAndDestroy()))`;
  return [
    curl('curl'),
    `(sleep 0.1; ${curl('background')}) & wait`,
    `(setsid ${curl('session')} &); sleep 0.5`,
    `(${send('bash')}; timeout 2 cat <&9)`,
    `(${send('no-answer')}; exec 9>&-)`,
    `(${send('disowned')}) & disown`,
    node(
      `fetch("${url}", { method: "POST", body: ${JSON.stringify(bodyOf('fetch'))} }).then((r) => console.log(r.status))`,
    ),
    `${node(reset)} '${requestOf('reset')}'`,
    node(socket('/v1/ws')),
    node(socket('/')),
    `perl -MIO::Socket::INET -e '${UNSEEN_CLIENT}' ${host} ${port} "$(printf '${requestOf('unseen')}')"`,
    `unshare -U ${curl('namespace')}`,
    `unshare -rpf ${curl('processes')}`,
    `python3 -c '${HIDDEN_SOCKET}' ${host} ${port} "$(printf '${requestOf('hidden')}')"`,
    `curl -s -m 5 http://${host}:${port}/health`,
  ];
}

/** Cannot be inspected by processes of its own user: prctl(PR_SET_DUMPABLE, 0). */
const UNSEEN_CLIENT = `syscall(${process.arch === 'arm64' ? 167 : 157}, 4, 0); my ($host, $port, $request) = @ARGV;
my $s = IO::Socket::INET->new("$host:$port") or die; print $s $request; $s->flush; print <$s>`;

/** While the request is checked, no process has the socket open: the program is sending it to itself. */
const HIDDEN_SOCKET = [
  'import socket, sys, time, array, ctypes',
  'ctypes.CDLL(None).prctl(4, 0)',
  'a, b = socket.socketpair()',
  's = socket.create_connection((sys.argv[1], int(sys.argv[2])))',
  'a.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [s.fileno()]))])',
  's.send(sys.argv[3].encode())',
  's.close()',
  'time.sleep(0.5)',
].join('\n');

async function namesOf(daemon: DaemonUnderTest): Promise<string[]> {
  const { body } = await daemon.get('/v1/api/workstreams');
  return body.workstreams.map(({ name }: { name: string }) => name);
}

/** An address of this machine that is not a loopback address. */
const ownAddress = Object.values(networkInterfaces())
  .flatMap((entries) => entries ?? [])
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

for (const user of cast) {
  for (const host of ['127.0.0.1', ...(ownAddress === undefined ? [] : [ownAddress])]) {
    const isLoopback = host === '127.0.0.1';
    test(
      `${user.who}: a sandboxed command does not reach the daemon's own port by ${isLoopback ? 'loopback, with --no-auth' : 'the address of the machine'}; others do meanwhile`,
      user.confined,
      async (t) => {
        const { daemon, isSandboxed } = await start(t, user, isLoopback ? ['--no-auth'] : ['--host', '0.0.0.0']);
        assert.ok(isSandboxed);
        const intrusions = intrusionsOf(host, daemon.port);
        let isOver = false;
        const attack = runAsAgent({ daemon, model }, [...intrusions, 'echo end'].join('\n')).finally(() => {
          isOver = true;
        });
        const statuses = new Set<number>();
        while (!isOver) {
          const { status } = await daemon.fetch('/v1/api/workstreams', { headers: { connection: 'close' } });
          statuses.add(status);
          await pause(20); // the attack needs processor time, too
        }
        const printed = await attack;
        assert.match(printed, /^end$/m);
        assert.doesNotMatch(printed, /opened|"status"|^200|ws_id/m);
        assert.deepEqual([...statuses], [200]);
        assert.deepEqual(
          (await namesOf(daemon)).filter((name) => name.startsWith('intruder')),
          [],
        );
      },
    );
  }
}

test(
  'outside the sandbox the same attacks reach the port, so the test above can detect a leak',
  attackable,
  async (t) => {
    const [user] = users;
    assert.ok(user);
    const { daemon, work } = await start(t, user, ['--no-auth']);
    const script = intrusionsOf('127.0.0.1', daemon.port).join('\n');
    const environment = { cwd: work, env: { PATH: '/usr/bin:/bin' } };
    const { stdout } = await promisify(execFile)('/bin/bash', ['-c', script], environment);
    assert.match(stdout, /opened\nopened\n/);
    assert.match(stdout, /"status":"ok"/);
    const names = await namesOf(daemon);
    for (const way of ['curl', 'background', 'session', 'bash', 'no-answer', 'disowned', 'fetch', 'reset', 'unseen'])
      assert.ok(names.includes(`intruder-${way}`), `outside the sandbox it gets in: ${way}`);
  },
);

test('a command does not inherit file descriptors left open by the parent of the daemon', linux, async (t) => {
  const root = await mkdtemp('/var/tmp/headgate-sockets-');
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(path.join(root, 'secret'), 'canary');
  await using secret = await open(path.join(root, 'secret'));
  await using daemon = await startDaemon({ home: path.join(root, 'home'), model: model.url, descriptor: secret.fd });
  assert.match(await readlink(`/proc/${daemon.pid}/fd/${INHERITED_FD}`), /secret$/);
  const printed = await runAsAgent({ daemon, model }, `cat <&${INHERITED_FD}; echo /proc/self/fd/*; echo end`);
  assert.match(printed, /end\n$/);
  assert.doesNotMatch(printed, new RegExp(`canary|fd/${INHERITED_FD}\\b`));
});
