import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { systemClock } from '../../../src/clock.ts';
import type { DaemonUnderTest, StartOptions } from '../../support/daemon/daemon.ts';
import type { Boot, Disk, Evidence } from '../evidence.ts';
import { readDisk } from '../read-disk.ts';
import type { DiskReader } from '../stored.ts';
import { readEffects } from './effects-file.ts';
import { type CallWish, callOverHttp, callOverSocket, type RecordedCall } from './record-call.ts';
import { type Address, type RecordedSocket, recordSocket, type SocketWish } from './record-socket.ts';
import { type RecordedStream, recordStream, type StreamWish } from './record-stream.ts';

/** Records every call and connection made through it. */
export interface Recorder {
  readonly boots: readonly Boot[];
  stream(wish: Omit<StreamWish, keyof Address>): RecordedStream;
  socket(wish: Omit<SocketWish, keyof Address>): RecordedSocket;
  /** Over the socket, if one is given. */
  call(wish: CallWish, socket?: RecordedSocket): RecordedCall;
  kill9(): Promise<void>;
  restart(changes?: Pick<StartOptions, 'args' | 'env' | 'entry'>): Promise<void>;
  /** A process that was killed before it was ready. */
  stillborn(boot: Boot, output: string): void;
  /** The memory that the daemon uses now. */
  sampleMemory(): Promise<void>;
  /** All evidence since the beginning, or since `forget`. */
  evidence(asked: Asked): Promise<Evidence>;
  /** Drops the records of closed connections. */
  forget(): void;
}

interface Asked {
  settled: boolean;
  /** Only these workstreams. */
  wsIds?: readonly string[] | undefined;
  /** The file in which commands record that they ran. */
  effectsFiles: readonly string[];
  earlier?: Disk | undefined;
  /** Whether to read files for secrets, which takes time. */
  withFiles: boolean;
}

interface RecorderOptions {
  budgetBytes: number;
  secrets: Evidence['secrets'];
  /** When the current process was spawned and became ready, in milliseconds since the epoch. */
  boot: Boot;
  /** Where the daemon stores its data; default: the database in its home. */
  stored?: Pick<DiskReader, 'read'>;
  /** Where the next connection or request goes; default: to the daemon. */
  at?(): Address;
}

export function createRecorder(daemon: DaemonUnderTest, options: RecorderOptions): Recorder {
  const boots: Boot[] = [options.boot];
  const outputs: Evidence['artefacts'] = [];
  const samples: Evidence['memory']['samples'] = [];
  let streams: RecordedStream[] = [];
  let sockets: RecordedSocket[] = [];
  const calls: RecordedCall[] = [];
  const at = options.at ?? (() => ({ url: daemon.url, token: daemon.token }));
  const kept = <T>(list: T[], item: T): T => {
    list.push(item);
    return item;
  };
  const secrets = [...options.secrets, { name: 'the operator token', value: daemon.token }];

  return {
    boots,
    stream: (wish) => kept(streams, recordStream({ ...at(), ...wish })),
    socket: (wish) => kept(sockets, recordSocket({ ...at(), ...wish })),
    call: (wish, socket) => kept(calls, socket ? callOverSocket(socket, wish) : callOverHttp(at(), wish)),
    async kill9() {
      await daemon.kill9();
      const boot = boots.at(-1);
      if (boot) boot.diedMs = systemClock.now();
      outputs.push(...outputOf(daemon, boots.length));
    },
    async restart(changes) {
      const boot: Boot = { spawnedMs: systemClock.now() };
      boots.push(boot);
      await daemon.restart(changes);
      boot.readyMs = systemClock.now();
    },
    stillborn(boot, output) {
      boots.push(boot);
      outputs.push({ name: `output of process ${boots.length}`, text: output });
    },
    async sampleMemory() {
      const bytes = await residentBytes(daemon.pid);
      if (bytes !== undefined) samples.push({ atMs: systemClock.now(), bytes });
    },
    async evidence({ settled, wsIds, effectsFiles, earlier, withFiles }) {
      const files = withFiles ? await filesOf(daemon.home) : [];
      // Before the disk, because a daemon that goes on begins further calls.
      const effects = (await Promise.all(effectsFiles.map(readEffects))).flat();
      return {
        disk: await (options.stored?.read(wsIds) ?? readDisk(daemon.home, wsIds)),
        ...(earlier && { earlier }),
        // Copies, because open connections continue to write.
        streams: streams.map(({ history }) => ({ ...history, frames: [...history.frames] })),
        sockets: sockets.map(({ history }) => ({ ...history, frames: [...history.frames] })),
        calls: calls
          .filter(({ history }) => wsIds?.includes(history.params.wsId) ?? true)
          .map(({ history }) => ({ ...history, answers: [...history.answers] })),
        effects,
        patched: (
          await Promise.all([...new Set(effectsFiles.map((file) => path.dirname(file)))].map(patchedIn))
        ).flat(),
        boots: [...boots],
        memory: { budgetBytes: options.budgetBytes, samples: [...samples] },
        secrets,
        artefacts: [...outputs, ...outputOf(daemon, boots.length), ...files],
        settled,
      };
    },
    forget() {
      streams = streams.filter(({ history }) => history.isOpen);
      sockets = sockets.filter(({ history }) => history.isOpen);
      outputs.length = 0;
    },
  };
}

function outputOf(daemon: DaemonUnderTest, boot: number): Evidence['artefacts'] {
  const { stdout, stderr } = daemon.output();
  return [
    { name: `stdout of process ${boot}`, text: stdout },
    { name: `stderr of process ${boot}`, text: stderr },
  ];
}

/** What patches made in a folder. */
const patchedIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.patched'));

/** Undefined without /proc, and after the process has ended. */
async function residentBytes(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const [, kib] = /^VmRSS:\s+(\d+) kB/m.exec(status) ?? [];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

/** Files that may contain secrets. */
const KEEPERS: ReadonlySet<string> = new Set(['token', 'secrets.json', 'headgate-key']);

/** Every file of a home, including binary files. */
async function filesOf(home: string): Promise<Evidence['artefacts']> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !KEEPERS.has(entry.name));
  return Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return { name: path.relative(home, file), text: await readFile(file, 'latin1').catch(() => '') }; // gone again
    }),
  );
}
