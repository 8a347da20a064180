import { toRightsWords } from '../../state/accounts/permission-words.ts';
import { isUser, type Who } from '../../state/accounts/who.ts';
import type { App, Desk } from '../../state/app.ts';
import { toDistance } from '../../state/text/moment.ts';
import { AppearancePart } from '../appearance/appearance-part.tsx';
import { Icon } from '../icons.tsx';
import { ClaimedText } from '../nodes/claimed-text.tsx';
import { OwnLogins } from './own-logins.tsx';
import { TokenList } from './token-list.tsx';

/** Who the person is, how the person logs in, the API tokens, and logging out. */
export function OwnAccount({ app, desk }: { app: App; desk: Desk }) {
  const who = app.who.value;
  if (!who) return <p class="empty">Connecting…</p>;
  return (
    <div class="account-parts">
      <section class="panel-row account-part" aria-labelledby="you-title">
        <h2 id="you-title">You</h2>
        <Person who={who} nowMs={app.now()} isLogin={app.auth.value.authEnabled} />
        {app.auth.value.authEnabled && (
          <button type="button" onClick={() => void app.logOut()}>
            <Icon name="exit" />
            Log out
          </button>
        )}
      </section>
      <AppearancePart app={app} />
      {isUser(who) && <OwnLogins app={app} desk={desk} who={who} />}
      <TokenList app={app} desk={desk} />
    </div>
  );
}

interface PersonProps {
  who: Who;
  nowMs: number;
  /** False without authentication. */
  isLogin: boolean;
}

function Person({ who, nowMs, isLogin }: PersonProps) {
  const { role, allowed } = toRightsWords(who.permissions);
  const operator = isLogin ? 'The operator of this daemon' : 'Anyone: authentication is switched off';
  return (
    <dl class="person">
      <div>
        <dt>Name</dt>
        <dd>{isUser(who) ? <ClaimedText text={who.displayName ?? ''} /> : operator}</dd>
      </div>
      {isUser(who) && (
        <div>
          <dt>Username</dt>
          <dd>
            <ClaimedText text={who.username ?? ''} />
          </dd>
        </div>
      )}
      <div>
        <dt>Rights</dt>
        <dd>{role ?? 'a combination of its own, see below'}</dd>
      </div>
      <div>
        <dt>You may</dt>
        <dd>
          <ul class="allowed">
            {allowed.map((words) => (
              <li key={words}>{words}</li>
            ))}
            {allowed.length === 0 && <li>nothing yet: ask an administrator for a role</li>}
          </ul>
        </dd>
      </div>
      {who.expiresAtMs !== undefined && (
        <div>
          <dt>This login ends</dt>
          <dd>{toDistance(who.expiresAtMs, nowMs)}</dd>
        </div>
      )}
    </dl>
  );
}
