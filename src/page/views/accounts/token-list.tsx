import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { ApiToken } from '../../../../protocol/methods/accounts/token.ts';
import { accountsOf } from '../../state/accounts/accounts.ts';
import type { NewToken, OwnTokens } from '../../state/accounts/own-tokens.ts';
import type { App, Desk } from '../../state/app.ts';
import { toDistance, toMoment } from '../../state/text/moment.ts';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { ReadingNotice } from '../reading-notice.tsx';
import { RemovableRow } from '../rows/removable-row.tsx';
import { CopyButton } from '../text/code.tsx';
import { TokenForm } from './token-form.tsx';

/** The person’s API tokens, with a form for another one. */
export function TokenList({ app, desk }: { app: App; desk: Desk }) {
  const { tokens: own } = accountsOf(desk);
  const mayCreate = app.rights.createTokens.value;
  useEffect(() => {
    if (mayCreate) void own.read();
  }, [own, mayCreate]);
  const tokens = own.tokens.value;
  const created = own.created.value;
  return (
    <section class="panel-row account-part" aria-labelledby="tokens-title">
      <h2 id="tokens-title" tabIndex={-1}>
        API tokens
      </h2>
      <p class="soft">Programs log in with a token. It can do at most what you may do.</p>
      {!mayCreate && <p>API tokens require the approve scope. Ask an administrator for a token.</p>}
      <ReadingNotice of={[own.reading]} />
      {created && <CreatedToken created={created} onStored={() => own.forget()} />}
      {mayCreate && tokens?.length === 0 && <p>You have no tokens.</p>}
      {mayCreate && tokens !== undefined && tokens.length > 0 && (
        <ul class="token-list" aria-label="Your API tokens">
          {tokens.map((token) => (
            <TokenRow key={token.tokenId} token={token} own={own} nowMs={app.now()} />
          ))}
        </ul>
      )}
      {mayCreate && app.auth.value.authEnabled && <TokenForm app={app} own={own} />}
    </section>
  );
}

/** The only time that a token is shown. */
function CreatedToken({ created, onStored }: { created: NewToken; onStored(): void }) {
  const title = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => title.current?.focus(), []);
  return (
    <div class="new-token">
      <p ref={title} tabIndex={-1}>
        Copy the token <ClaimedText text={created.name} /> now. It is not shown again.
      </p>
      <div class="pairing-command">
        <code>{created.token}</code>
        <CopyButton text={created.token} label="Copy token" />
      </div>
      <button
        type="button"
        onClick={() => {
          onStored();
          document.getElementById('tokens-title')?.focus(); // this button disappears
        }}
      >
        I have stored it
      </button>
    </div>
  );
}

interface TokenRowProps {
  token: ApiToken;
  own: OwnTokens;
  nowMs: number;
}

function TokenRow({ token, own, nowMs }: TokenRowProps) {
  const { name, scope, tokenId, tokenPrefix, createdAtMs, expiresAtMs, lastUsedAtMs } = token;
  const facts = [
    tokenPrefix !== '' && `${tokenPrefix}…`,
    scope,
    `created ${toMoment(createdAtMs, nowMs)}`,
    expiresAtMs === null ? 'does not expire' : `expires ${toDistance(expiresAtMs, nowMs)}`,
    lastUsedAtMs === null ? 'never used' : `last used ${toMoment(lastUsedAtMs, nowMs)}`,
  ];
  const removal = {
    verb: 'Revoke',
    name,
    loss: 'permanently? Programs that use it lose access at once.',
    remove: () => own.revoke(tokenId),
    focusAfter: 'tokens-title',
  };
  return (
    <RemovableRow removal={removal}>
      {(removeButton) => (
        <div class="token-row">
          <span>
            <b>
              <ClaimedText text={name} />
            </b>
            <span class="account-facts">{facts.filter(Boolean).join(' · ')}</span>
          </span>
          {removeButton}
        </div>
      )}
    </RemovableRow>
  );
}
