import { createServer, type Server } from 'node:http';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { everyAnswer } from '../exchange.ts';
import { iso } from '../iso.ts';

/** What a standby says about itself. */
export interface StandbyState {
  version: string;
  nodeId: string;
  /** The daemon that is active; undefined while there is none, or while it is unknown. */
  active: { nodeId: string; url: string | undefined; sinceMs: number } | undefined;
}

interface StandbyDeps {
  state(): StandbyState;
  clock: Clock;
  requestIdPrefix: string;
  log: Log;
}

/** A standby serves nobody: it says so in `/health` and `/metrics`, and refuses everything else until it takes over. */
export function createStandbyServer({ state, clock, requestIdPrefix, log }: StandbyDeps): Server {
  const startedMs = clock.monotonic();
  let requests = 0;
  const server = createServer({ headersTimeout: LIMITS.headMs, requestTimeout: LIMITS.headMs }, (req, res) => {
    requests += 1;
    const requestId = `${requestIdPrefix}-${requests.toString(36)}`;
    const path = req.url?.split('?')[0];
    req.resume();
    if (path === '/metrics') {
      res.writeHead(200, {
        ...everyAnswer({ requestId }),
        'Content-Type': 'text/plain; version=0.0.4',
        Connection: 'close',
      });
      return void res.end(METRICS);
    }
    const body = path === '/health' ? toHealth(state(), clock.monotonic() - startedMs) : REFUSED;
    // Connections end, so that clients soon ask the daemon that comes after this server.
    res.writeHead(503, {
      ...everyAnswer({ requestId }),
      'Content-Type': 'application/json',
      'Retry-After': RETRY_SECONDS,
      Connection: 'close',
    });
    res.end(req.method === 'HEAD' ? undefined : JSON.stringify({ ...body, request_id: requestId }));
  });
  // Without a listener, a client that resets its connection would end the process.
  server.on('connection', (socket) => socket.on('error', (err) => log.debug({ err }, 'a connection failed')));
  server.on('connect', (_, socket) => socket.destroy());
  return server;
}

const RETRY_SECONDS = 1;

/** So that monitoring does not take a standby for a daemon that is down. */
const METRICS = `# HELP service_lease_held 1: this daemon is the active one
# TYPE service_lease_held gauge
service_lease_held 0
`;

const REFUSED = { error: 'This machine is a standby: another one is active. GET /health names it.' };

const toHealth = ({ version, nodeId, active }: StandbyState, upMs: number) => ({
  status: 'standby',
  version,
  node_id: nodeId,
  uptime_seconds: Math.round(upMs / 100) / 10,
  active: active ? { node_id: active.nodeId, url: active.url ?? null, since: iso(active.sinceMs) } : null,
});
