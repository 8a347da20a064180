import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { LIMITS } from '../../../protocol/limits.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { failureAnswer } from '../exchange.ts';
import type { Failure } from '../status.ts';
import { closeSoon, rawAnswer } from './raw-answer.ts';

interface UnreadDeps {
  /** The id of such a request is new, because its own cannot be read. */
  newRequestId(): string;
  clock: Clock;
  log: Pick<Log, 'debug'>;
}

/** Answers requests that cannot be read as HTTP. Without this, Node does, with neither a body nor our headers. */
export function answerUnread(server: Server, { newRequestId, clock, log }: UnreadDeps): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const failure = CLIENT_ERRORS[error.code ?? ''] ?? INVALID;
    if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    const requestId = newRequestId();
    // Without the error itself: it holds the bytes that were sent, and they may be a credential. A client that leaves during
    // a body is logged with its request.
    if (error.code !== 'HPE_INVALID_EOF_STATE')
      log.debug({ requestId, status: failure.status, code: error.code }, 'refused a request that cannot be read');
    socket.end(rawAnswer(requestId, failureAnswer({ requestId }, failure)));
    closeSoon(socket, clock);
  });
}

const INVALID: Failure = { status: 400, body: { error: 'The request is not valid HTTP/1.1' } };

/** The parser says the same of both. */
const TOO_MANY = `The request has more than ${LIMITS.requestHeaders} headers, or more than 16 KiB of them`;

const CLIENT_ERRORS: Record<string, Failure> = {
  HPE_HEADER_OVERFLOW: { status: 431, body: { error: TOO_MANY } },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, body: { error: 'The chunk extensions of the body are too large' } },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, body: { error: 'The request was not complete in time' } },
};
