import type { GatewayError } from '../../protocol/errors.ts';
import type { ErrorShape } from '../../protocol/frames.ts';

/** An error as sent over the wire, without its cause. */
export function toErrorShape({ code, message, details, retryable, retryAfterMs }: GatewayError): ErrorShape {
  return {
    code,
    message,
    ...(details !== undefined && { details }),
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}
