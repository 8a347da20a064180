import { GatewayError } from '../../../protocol/errors.ts';
import { isMethodName } from '../../../protocol/index.ts';
import type { Span, Tracing } from '../../tracing.ts';
import { loggedAs } from '../call.ts';
import type { Dispatch } from '../dispatch.ts';

/** Reports a span for each call, below the one that its caller named. */
export const tracedDispatch =
  (dispatch: Dispatch, tracing: Tracing): Dispatch =>
  (method, params, caller) => {
    const { requestId, connId, frameId } = loggedAs(caller);
    const name = isMethodName(method) ? method : 'unknown'; // a client could send any text
    const span = tracing.start({
      name,
      kind: 'server',
      parent: caller.traceparent,
      attributes: {
        'rpc.method': name,
        'headgate.request.id': requestId,
        'headgate.connection.id': connId,
        'headgate.frame.id': frameId,
      },
    });
    return tracing.within(span, () => ending(span, dispatch(method, params, caller)));
  };

function ending(span: Span, answered: unknown): unknown {
  if (!(answered instanceof Promise)) {
    span.end();
    return answered;
  }
  answered.then(
    () => span.end(),
    (error: unknown) => span.end({ error: error instanceof GatewayError ? error.code : 'INTERNAL' }),
  );
  return answered;
}
