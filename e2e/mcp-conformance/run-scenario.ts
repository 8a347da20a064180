import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { openRelay } from './relay.ts';
import { isAboutAccounts, SUITE } from './scenarios.ts';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** The server of a scenario, as the suite has started it. */
export interface ScenarioServer {
  scenario: string;
  url: string;
  /** What a client has to know beforehand, as JSON. */
  context?: string;
}

export interface ScenarioResult {
  isPassed: boolean;
  /** What the suite says. */
  output: string;
}

/**
 * Runs a scenario of the conformance suite, whose client is whatever `drive` does with the server. Resolves with what the
 * suite found.
 */
export async function runScenario(
  scenario: string,
  drive: (server: ScenarioServer) => Promise<void>,
): Promise<ScenarioResult> {
  const driver = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part);
    try {
      const server: ScenarioServer = JSON.parse(Buffer.concat(parts).toString('utf8'));
      await driveOver(server, drive);
      response.end('driven\n');
    } catch (error) {
      response.writeHead(500).end(`${error instanceof Error ? error.stack : error}\n`);
    }
  }).listen(0, '127.0.0.1');
  await once(driver, 'listening');
  try {
    const { port } = driver.address() as AddressInfo;
    const client = [process.execPath, file('client.ts')].join(' ');
    const suite = spawn(process.execPath, [SUITE, 'client', '--command', client, '--scenario', scenario, '--verbose'], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, HOME: tmpdir(), DRIVER_URL: `http://127.0.0.1:${port}/` },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [suite.stdout, suite.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    const [code] = await once(suite, 'close');
    return { isPassed: code === 0 || isOnlyLate(output), output };
  } finally {
    driver.closeAllConnections();
    driver.close();
  }
}

/** The suite warns of a client that came back some hundred milliseconds late, as on a machine that does much else. */
const isOnlyLate = (output: string): boolean =>
  / 0 failed, 1 warnings$/m.test(output) && output.includes('Client reconnected slightly late');

/** Servers with accounts name their own address in their metadata. They end their connections themselves. */
async function driveOver(server: ScenarioServer, drive: (server: ScenarioServer) => Promise<void>): Promise<void> {
  if (isAboutAccounts(server.scenario)) return drive(server);
  await using relay = await openRelay(new URL(server.url));
  await drive({ ...server, url: relay.url });
}
