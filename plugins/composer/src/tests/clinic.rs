//! A clinic in a schema of its own, with an enum, mixed case and several dates named by notes.

use airlock_plugin_sdk::harness::{Recorded, column, table};

use super::{check, refuses};

fn clinic() -> Recorded {
    let mut state = column("state", "visit_state");
    state.enum_labels = vec!["booked".into(), "done".into(), "no_show".into()];
    Recorded::new()
        .table(
            table("care.Patients")
                .columns(&[
                    ("PatientID", "bigint"),
                    ("FullName", "text"),
                    ("Gender", "text"),
                    ("WeightKg", "numeric"),
                ])
                .primary_key(&["PatientID"]),
        )
        .table(
            table("care.doctors")
                .columns(&[
                    ("doctor_id", "bigint"),
                    ("name", "text"),
                    ("speciality", "text"),
                    ("salary", "numeric"),
                ])
                .primary_key(&["doctor_id"]),
        )
        .table(
            table("care.visits")
                .columns(&[
                    ("visit_id", "bigint"),
                    ("PatientID", "bigint"),
                    ("doctor_id", "bigint"),
                    ("booked_on", "date"),
                    ("seen_at", "timestamp without time zone"),
                    ("fee", "numeric"),
                ])
                .column(state)
                .primary_key(&["visit_id"])
                .time_column("seen_at")
                .synonyms(&["appointment"]),
        )
        .join("care.visits.PatientID", "care.Patients.PatientID")
        .join("care.visits.doctor_id", "care.doctors.doctor_id")
        .values("care.doctors.speciality", &["Cardiology", "Skin Care"])
        .values("care.Patients.Gender", &["Female", "Male"])
}

#[test]
fn questions_of_a_clinic() {
    check(
        &clinic(),
        &[
            (
                "How many female patients are there?",
                "SELECT count(*) AS patients_count FROM care.\"Patients\" AS p WHERE p.\"Gender\" = 'Female'",
            ),
            (
                "average weight of male patients",
                "SELECT avg(p.\"WeightKg\") AS average_weightkg FROM care.\"Patients\" AS p WHERE p.\"Gender\" = 'Male'",
            ),
            (
                "How many no show appointments were there last month?",
                "SELECT count(*) AS visits_count FROM care.visits AS v WHERE v.seen_at >= DATE '2026-07-01' AND v.seen_at < DATE '2026-08-01' AND v.state = 'no_show'",
            ),
            (
                "total fee per speciality",
                "SELECT d.speciality, sum(v.fee) AS total_fee FROM care.visits AS v JOIN care.doctors AS d ON d.doctor_id = v.doctor_id GROUP BY d.speciality ORDER BY total_fee DESC NULLS LAST, d.speciality",
            ),
            (
                "Which doctor has the highest salary?",
                "SELECT d.name, d.salary FROM care.doctors AS d ORDER BY d.salary DESC NULLS LAST, d.doctor_id LIMIT 1",
            ),
            ("What is the lowest salary?", "SELECT min(d.salary) AS lowest_salary FROM care.doctors AS d"),
            (
                "How many patients visited a cardiology doctor?",
                "SELECT count(*) AS patients_count FROM care.\"Patients\" AS p WHERE EXISTS ( SELECT 1 FROM care.visits AS v JOIN care.doctors AS d ON d.doctor_id = v.doctor_id WHERE p.\"PatientID\" = v.\"PatientID\" AND d.speciality = 'Cardiology')",
            ),
            (
                "doctors whose salary is between 1000 and 2000",
                "SELECT d.name FROM care.doctors AS d WHERE d.salary BETWEEN 1000 AND 2000 ORDER BY d.name, d.doctor_id",
            ),
            (
                "number of visits by doctor and month in 2026",
                "SELECT d.name, date_trunc('month', v.seen_at)::date AS month, count(*) AS visits_count FROM care.visits AS v JOIN care.doctors AS d ON d.doctor_id = v.doctor_id WHERE v.seen_at >= DATE '2026-01-01' AND v.seen_at < DATE '2027-01-01' GROUP BY d.name, d.doctor_id, date_trunc('month', v.seen_at)::date ORDER BY d.name, month, d.doctor_id",
            ),
            (
                "average salary by doctors speciality",
                "SELECT d.speciality, avg(d.salary) AS average_salary FROM care.doctors AS d GROUP BY d.speciality ORDER BY average_salary DESC NULLS LAST, d.speciality",
            ),
        ],
    );
}

#[test]
fn injected_quotes_stay_text() {
    let host = clinic().values("care.doctors.speciality", &["O'Hara's"]);
    check(
        &host,
        &[(
            "How many doctors have the speciality \"x'; DROP TABLE visits; --\"?",
            "SELECT count(*) AS doctors_count FROM care.doctors AS d WHERE lower(d.speciality) = lower('x''; DROP TABLE visits; --')",
        )],
    );
}

#[test]
fn a_clinic_keeps_no_insurance() {
    refuses(
        &clinic(),
        &[
            ("How many patients have private insurance?", &["private", "insurance"]),
            ("which doctor has the best reviews", &["reviews"]),
        ],
    );
}
