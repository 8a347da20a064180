import { Icon } from '../icons.tsx';

interface SearchFieldProps {
  label: string;
  value: string;
  onChange(value: string): void;
}

/** The field above a list that narrows it. */
export const SearchField = ({ label, value, onChange }: SearchFieldProps) => (
  <div class="saved-search">
    <Icon name="search" />
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      autocomplete="off"
      value={value}
      onInput={({ currentTarget }) => onChange(currentTarget.value)}
    />
  </div>
);
