/** What a command takes. */
export interface Command {
  /** What follows the name: an argument in angle brackets, options with their values. */
  usage: string;
  summary: string;
  argument?: string;
  /** A flag has no value. */
  options: { name: string; required?: boolean; repeatable?: boolean; flag?: boolean; short?: string }[];
}
