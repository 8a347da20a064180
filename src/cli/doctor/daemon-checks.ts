import { createServer } from 'node:http';
import { RequestError } from '../../../protocol/client/request-error.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from '../../finding.ts';
import { type DaemonFile, readDaemonFile } from '../../home/daemon-file.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { listen } from '../../listen.ts';
import { NoDaemonError } from '../../start-error.ts';
import { resolveTarget, withClient } from '../connect.ts';

interface DaemonState {
  findings: Finding[];
  file: DaemonFile | undefined;
  /** Of a daemon that answers. */
  health: HealthSummary | undefined;
}

/** Whether the home's daemon runs, answers and takes the home's token. */
export async function checkDaemon(home: string, version: string): Promise<DaemonState> {
  const name = 'daemon';
  const file = await readDaemonFile(home).catch(() => undefined); // a home that cannot be read is told elsewhere
  if (file === undefined) {
    return { findings: [warning(name, 'none runs in this home', 'headgate start')], file, health: undefined };
  }
  if (!isAlive(file.pid)) return { findings: [leftBehind(file)], file, health: undefined };
  try {
    const around: Surroundings = { environment: {}, userHome: home, cwd: home };
    const target = await resolveTarget({ home }, around);
    const health = await withClient({ target, version }, (client) => client.call('health', {}));
    return { findings: [ok(name, `answers at ${file.url} and takes the token (pid ${file.pid})`)], file, health };
  } catch (error) {
    return { findings: [explain(error, file)], file, health: undefined };
  }
}

function explain(error: unknown, { url, pid }: DaemonFile): Finding {
  if (error instanceof RequestError) {
    return problem(
      'daemon',
      `${url} refuses the home’s token${error.code === 'UNAUTHORIZED' ? '' : `: ${error.message}`}`,
      'Is it another home’s daemon? Stop it, or name its home with --home.',
    );
  }
  if (!(error instanceof NoDaemonError)) return problem('daemon', wordsOf(error), 'Mend that first.');
  return problem(
    'daemon',
    `process ${pid} should answer at ${url} and does not`,
    `Read what it has logged; if nothing helps: kill ${pid}`,
  );
}

const leftBehind = ({ pid }: DaemonFile): Finding =>
  warning(
    'daemon',
    `daemon.json was left behind by process ${pid}, which was killed`,
    'headgate start: what was unfinished goes on.',
  );

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // gone, or another user's by now
  }
}

/** Whether the address is free to listen on. */
export async function checkPort({ host, port }: { host: string; port: number }, daemon: DaemonState): Promise<Finding> {
  const name = 'port';
  const own = daemon.health === undefined || daemon.file === undefined ? undefined : new URL(daemon.file.url).port;
  if (own === String(port)) return ok(name, `${port} is the running daemon’s`);
  const server = createServer();
  try {
    const found = await listen(server, { host, port });
    return ok(name, port === 0 ? 'any free one is taken' : `${found} on ${host} is free`);
  } catch (error) {
    const mend =
      own === undefined
        ? 'End what uses it, or choose another with --port.'
        : 'A second daemon would need another one.';
    return own === undefined ? problem(name, wordsOf(error), mend) : warning(name, wordsOf(error), mend);
  } finally {
    server.close();
  }
}
