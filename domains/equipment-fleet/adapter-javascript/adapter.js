// The domain adapter of equipment-fleet in JavaScript: the same rules as `adapter`, for those who would rather read these.
//
// Built by componentize-js with clocks, random, stdio and http left out, so that it has none of them to begin with.

import { check, outline } from "airlock:plugin/sql@0.1.0";

import { findings, rawSerialScan } from "./rules.js";
import { find } from "./serial.js";
import { Tree } from "./tree.js";

// The kind of entity whose keys are canonical; the pack's notes name the column that holds them.
const MACHINE = "machine";

export const domain = {
  canonicalize(question, _clock) {
    return find(question).map(({ matched, key }) => ({ kind: MACHINE, matched, key }));
  },

  review(text, facts, clock) {
    return findings(outlined(text), facts, clock);
  },

  judge({ text, sql }) {
    const raw = find(text).find(({ matched, key }) => matched !== key);
    if (raw !== undefined) {
      return reject(
        `It names the machine ${raw.key} as \`${raw.matched}\`; knowledge uses the governed key.`,
      );
    }
    if (sql === undefined) return { tag: "no-objection" };
    let facts;
    try {
      facts = check(sql);
    } catch (rejected) {
      return reject(`Its SQL does not pass the gate: ${rejected.payload.message}`);
    }
    const scan = rawSerialScan(outlined(sql), facts);
    return scan === undefined ? { tag: "no-objection" } : reject(scan.message);
  },

  seedLessons() {
    return [
      {
        kind: "schema-map",
        text:
          "A machine is found by machine_key (MK- and five digits), never by plate_text, complaint_text, memo_text, " +
          'findings_text or "SerialNo".',
        trigger: "a machine named by its serial",
        tags: ["serial", "machine_key"],
        attributes: [],
      },
      {
        kind: "perf-guard",
        text: "Restrict read_on whenever meter_readings is read; machine_months answers whole months without it.",
        trigger: "hours, fuel or utilisation over time",
        tags: ["meter_readings", "utilisation"],
        attributes: [],
      },
      {
        kind: "resolution-pattern",
        text: "Add labour and parts up in order_costs: joining labour_entries and part_usages to one work order repeats both.",
        trigger: "cost of repairs",
        tags: ["repair cost", "order_costs"],
        attributes: [],
      },
    ];
  },
};

const reject = (why) => ({ tag: "reject", val: why });

/** The tree of a text. Without one a rule could not see what it is there to block, so it is an error. */
function outlined(text) {
  try {
    return new Tree(text, outline(text));
  } catch (rejected) {
    throw { tag: "internal", val: `no outline of the text: ${rejected.payload.message}` };
  }
}
