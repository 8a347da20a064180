import { GatewayError } from '../../../../protocol/errors.ts';
import type { Params } from '../../../../protocol/index.ts';
import type { Handlers } from '../../call.ts';
import type { Parent } from '../parent.ts';
import { type IdentifyDeps, redeem, requirePassword } from './identify.ts';
import type { LoginSessions } from './login-sessions.ts';

interface ConfirmDeps extends IdentifyDeps {
  sessions: Pick<LoginSessions, 'confirm'>;
}

/** Proving again who one is, without another session: open connections go on. */
export const confirmMethods = (deps: ConfirmDeps) =>
  ({
    'auth.confirm': async (given, call) => {
      const { principal, address } = call;
      if (principal === undefined) throw new GatewayError('UNAUTHORIZED', 'Not authenticated');
      const { source, userId } = principal;
      if (source.kind !== 'login') {
        throw new GatewayError('INVALID_REQUEST', 'Only a login is confirmed. This credential needs no confirmation.');
      }
      await requireProof(given, { parent: source.parent, address }, deps);
      const recorded = call.audited({ id: userId ?? source.parent.kind });
      return { status: 'ok', untilMs: await deps.sessions.confirm(source.jti, recorded) };
    },
  }) satisfies Partial<Handlers>;

interface Asked {
  parent: Parent;
  address: string;
}

/** Throws FORBIDDEN unless the proof is of whoever the session belongs to. */
async function requireProof(given: Params<'auth.confirm'>, { parent, address }: Asked, deps: ConfirmDeps) {
  const { password, code, token } = given;
  if (password !== undefined && parent.kind === 'user') {
    await requirePassword({ userId: parent.id, password, address, refusal: 'The password is wrong' }, deps);
    return;
  }
  if (code === undefined && token === undefined) throw nothingGiven(parent);
  const minter = await redeem({ code, token }, address, deps);
  if (minter === undefined) throw new GatewayError('FORBIDDEN', 'This link or token is not valid. Get a new one.');
  if (minter.parent.kind === parent.kind && minter.parent.id === parent.id) return;
  throw new GatewayError('FORBIDDEN', 'This link or token is valid, but it does not belong to this login.');
}

const nothingGiven = ({ kind }: Parent) =>
  new GatewayError(
    'INVALID_REQUEST',
    kind === 'user' ? 'password: required' : 'code or token: required; "headgate link" prints a new link',
  );
