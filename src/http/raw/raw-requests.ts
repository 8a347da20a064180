import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../clock.ts';
import type { RefuseUpgrade } from '../../gateway/connections/upgrade.ts';
import type { Log } from '../../log.ts';
import { type Answer, everyAnswer, failureAnswer, type HttpMetrics, noteAnswered } from '../exchange.ts';
import type { RequestIdOf } from '../request-id.ts';
import { rawAnswer } from './raw-answer.ts';

interface RawDeps {
  requestIdOf: RequestIdOf;
  metrics: Pick<HttpMetrics, 'httpRequest'>;
  notFound: Answer;
  clock: Clock;
  log: Pick<Log, 'debug' | 'isDebugging'>;
}

/** Answers the requests that Node hands over as a bare connection. */
export interface RawRequests {
  refuseUpgrade: RefuseUpgrade;
  /** The daemon is no proxy: every target is an unknown path. */
  refuseConnect(request: IncomingMessage, socket: Duplex): void;
  /** Of the header Expect, only `100-continue` is understood. */
  refuseExpectation(request: IncomingMessage, res: ServerResponse): void;
}

export function createRawRequests({ requestIdOf, metrics, notFound, clock, log }: RawDeps): RawRequests {
  const note = (req: IncomingMessage, requestId: string, statusCode: number) =>
    noteAnswered({ req, requestId, endpoint: 'other', startedMs: clock.monotonic() }, statusCode, {
      metrics,
      clock,
      log,
    });

  function answer(req: IncomingMessage, socket: Duplex, toAnswer: (requestId: string) => Answer): void {
    const requestId = requestIdOf(req);
    const told = toAnswer(requestId);
    socket.once('finish', () => socket.destroy());
    socket.end(rawAnswer(requestId, told));
    note(req, requestId, told.status);
  }

  return {
    refuseUpgrade: (req, socket, { status, error, headers }) =>
      answer(req, socket, (requestId) =>
        failureAnswer({ requestId }, { status, body: { error }, ...(headers && { headers }) }),
      ),
    refuseConnect(req, socket) {
      socket.on('error', (error) => log.debug({ err: error }, 'a connection failed'));
      answer(req, socket, () => notFound);
    },
    refuseExpectation(req, res) {
      const requestId = requestIdOf(req);
      const { status, contentType, body } = failureAnswer({ requestId }, UNEXPECTED);
      const length = Buffer.byteLength(body);
      res.writeHead(status, {
        ...everyAnswer({ requestId }),
        'Content-Type': contentType,
        'Content-Length': length,
        Connection: 'close',
      });
      res.end(body);
      note(req, requestId, status);
    },
  };
}

const UNEXPECTED = { status: 417, body: { error: 'Expect: only 100-continue is supported' } };
