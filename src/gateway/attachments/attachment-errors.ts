import { GatewayError } from '../../../protocol/errors.ts';
import { LIMITS } from '../../../protocol/limits.ts';

export const unknown = () => new GatewayError('NOT_FOUND', 'Unknown attachment');

export const tooMany = () =>
  new GatewayError(
    'CONFLICT',
    `Too many unsent attachments (limit ${LIMITS.pendingAttachments}); send or remove some first`,
  );

export const tooManyAtOnce = () =>
  new GatewayError('BUSY', `Too many simultaneous uploads (limit ${LIMITS.uploadsAtOnce}); retry later`);

export const tooManyForOne = () =>
  new GatewayError('INVALID_REQUEST', `too_many: at most ${LIMITS.attachmentsPerMessage} attachments per message`);
