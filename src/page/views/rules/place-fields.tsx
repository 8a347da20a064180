import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { OPERATOR, type UserName } from '../../state/accounts/owners.ts';
import type { App, Desk } from '../../state/app.ts';
import type { RuleGiver } from '../../state/rules/rule-draft.ts';
import { tabName } from '../../state/tab.ts';
import { toDistance } from '../../state/text/moment.ts';
import { ChoiceField, type RuleFieldsProps, TextField } from './rule-field.tsx';
import { PriorityField } from './trial-dialog.tsx';

interface PlaceFieldsProps extends RuleFieldsProps {
  app: App;
  desk: Desk;
  giver: RuleGiver;
  rule: Rule | undefined;
}

const HOUR_MS = 3_600_000;
const ENDS = [
  ['never', 'no end'],
  [HOUR_MS, 'in one hour'],
  [8 * HOUR_MS, 'in 8 hours'],
  [24 * HOUR_MS, 'in one day'],
  [7 * 24 * HOUR_MS, 'in one week'],
  [30 * 24 * HOUR_MS, 'in 30 days'],
] as const;

/** Where a rule holds, how long, and before which others. */
export function PlaceFields({ app, desk, fields, wrong, giver, rule }: PlaceFieldsProps) {
  const tabs = desk.workstreams.tabs.value;
  const isClosed = fields.wsId !== '' && tabs.every(({ wsId }) => wsId !== fields.wsId);
  return (
    <fieldset class="boxes">
      <legend>Where and how long</legend>
      <div class="field-pair">
        <ChoiceField name="wsId" label="Workstream" wrong={wrong}>
          <option value="">all</option>
          {isClosed && (
            <option value={fields.wsId} selected>
              {`closed: ${fields.wsId.slice(0, 8)}`}
            </option>
          )}
          {tabs.map((tab) => (
            <option key={tab.wsId} value={tab.wsId} selected={tab.wsId === fields.wsId}>
              {toVisibleLine(tabName(tab))}
            </option>
          ))}
        </ChoiceField>
        <OwnerField app={app} desk={desk} fields={fields} wrong={wrong} giver={giver} />
      </div>
      <TextField name="folder" label="Only below this working directory" hint="any" fields={fields} wrong={wrong} />
      <div class="field-pair">
        <ChoiceField name="end" label="Ends" wrong={wrong}>
          {rule && (
            <option value="keep">
              {rule.expiresAtMs === undefined
                ? 'as it is: no end'
                : `as it is: ${toDistance(rule.expiresAtMs, app.now())}`}
            </option>
          )}
          {ENDS.filter(([end]) => end !== 'never' || rule?.expiresAtMs !== undefined || !rule).map(([end, words]) => (
            <option key={end} value={end}>
              {words}
            </option>
          ))}
        </ChoiceField>
        <PriorityField priority={fields.priority} />
      </div>
    </fieldset>
  );
}

/** Whose workstreams it is about. Administrators choose among all users. */
function OwnerField({ desk, fields, wrong, giver }: Omit<PlaceFieldsProps, 'rule'>) {
  const { owners } = desk;
  const users = useSignal<readonly UserName[]>([]);
  useEffect(() => {
    if (!giver.isAdmin) return;
    owners.find('').then(
      (found) => {
        users.value = found;
      },
      () => undefined, // without the names, the other choices are left
    );
  }, [owners, giver.isAdmin, users]);
  const others = [OPERATOR, ...users.value].filter(({ userId }) => giver.isAdmin && userId !== giver.userId);
  const own = `of:${giver.userId}`;
  const isListed = ['all', own, ...others.map(({ userId }) => `of:${userId}`)].includes(fields.owner);
  return (
    <ChoiceField name="owner" label="Whose workstreams" wrong={wrong}>
      <option value={own} selected={fields.owner === own}>
        mine
      </option>
      <option value="all" selected={fields.owner === 'all'}>
        everybody’s
      </option>
      {others.map(({ userId, displayName }) => (
        <option key={userId} value={`of:${userId}`} selected={fields.owner === `of:${userId}`}>
          {`those of ${toVisibleLine(displayName)}`}
        </option>
      ))}
      {!isListed && (
        <option value={fields.owner} selected>
          {`those of ${owners.nameOf(undefined, fields.owner.slice('of:'.length))}`}
        </option>
      )}
    </ChoiceField>
  );
}
