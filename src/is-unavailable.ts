import { GatewayError } from '../protocol/errors.ts';

/** Whether something could not be done only because the store cannot be read or written now. */
export const isUnavailable = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'UNAVAILABLE';
