import { createServer } from 'node:http';
import { RequestError } from '../../../protocol/client/request-error.ts';
import type { HealthSummary } from '../../../protocol/methods/health.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { type Finding, ok, problem, warning } from '../../daemon/checkup/finding.ts';
import { type DaemonFile, readDaemonFile } from '../../home/daemon-file.ts';
import type { Surroundings } from '../../home/home-path.ts';
import { listen } from '../../listen.ts';
import { NoDaemonError } from '../../start-error.ts';
import { resolveTarget, withClient } from '../connect.ts';

interface DaemonState {
  findings: Finding[];
  file: DaemonFile | undefined;
  /** Undefined if no daemon answers. */
  health: HealthSummary | undefined;
}

/** Checks whether the home's daemon runs, answers and accepts the home's token. */
export async function checkDaemon(home: string, version: string): Promise<DaemonState> {
  const name = 'daemon';
  const file = await readDaemonFile(home).catch(() => undefined); // `checkHome` reports an unreadable home
  if (file === undefined) {
    return { findings: [warning(name, 'not running in this home', 'headgate start')], file, health: undefined };
  }
  if (!isAlive(file.pid)) return { findings: [leftBehind(file)], file, health: undefined };
  try {
    const around: Surroundings = { environment: {}, userHome: home, cwd: home };
    const target = await resolveTarget({ home }, around);
    const health = await withClient({ target, version }, (client) => client.call('health', {}));
    return { findings: [ok(name, `answers at ${file.url} and accepts the token (pid ${file.pid})`)], file, health };
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
  if (!(error instanceof NoDaemonError)) return problem('daemon', wordsOf(error), 'Fix that first.');
  return problem(
    'daemon',
    `process ${pid} does not answer at ${url}`,
    `Read its log. If nothing else helps: kill ${pid}`,
  );
}

const leftBehind = ({ pid }: DaemonFile): Finding =>
  warning(
    'daemon',
    `daemon.json was left behind by process ${pid}, which was killed`,
    'headgate start; unfinished runs continue.',
  );

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false; // it has ended, or the pid now belongs to another user
  }
}

/** Checks whether the daemon can listen on the address. */
export async function checkPort({ host, port }: { host: string; port: number }, daemon: DaemonState): Promise<Finding> {
  const name = 'port';
  const own = daemon.health === undefined || daemon.file === undefined ? undefined : new URL(daemon.file.url).port;
  if (own === String(port)) return ok(name, `${port} is in use by the running daemon`);
  const server = createServer();
  try {
    const found = await listen(server, { host, port });
    return ok(name, port === 0 ? 'any free port is used' : `${found} on ${host} is free`);
  } catch (error) {
    const mend =
      own === undefined
        ? 'Stop the program that uses it, or choose another port with --port.'
        : 'A second daemon would need another port.';
    return own === undefined ? problem(name, wordsOf(error), mend) : warning(name, wordsOf(error), mend);
  } finally {
    server.close();
  }
}
