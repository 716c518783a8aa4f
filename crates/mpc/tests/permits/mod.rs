//! Permits for tests that open bundles instead of tables.

use tacit_mpc::{OpenedColumn, OpenedKind, Permit, PermitKind, Permits, Shape, Sharing};

/// A permit to open a bundle of this shape to the nodes of these names.
pub fn permit(nodes: &[&str], shape: Shape) -> Permit {
    let numbers = [
        (Sharing::Ring32, "ring32", 32, shape.r32),
        (Sharing::Ring64, "ring64", 64, shape.r64),
        (Sharing::Ring128, "ring128", 128, shape.r128),
    ];
    let (mut columns, mut texts) = (vec![], vec![]);
    let mut add = |repr, name: &str, width| {
        columns
            .push(OpenedColumn { name: "x".into(), kind: OpenedKind { repr, width, signed: false, nullable: false } });
        let kind = format!(r#"{{"repr": "{name}", "width": {width}, "signed": false, "nullable": false}}"#);
        texts.push(format!(r#"{{"name": "x", "kind": {kind}}}"#));
    };
    add(Sharing::Bits, "bits", shape.bits);
    for (repr, name, width, count) in numbers {
        (0..count).for_each(|_| add(repr, name, width));
    }
    taken("answer", PermitKind::Answer, nodes, &columns, &texts.join(", "))
}

/// A permit to tell the nodes of these names a number of rows.
#[allow(dead_code, reason = "not every test announces")]
pub fn size_permit(nodes: &[&str]) -> Permit {
    taken("size", PermitKind::Size, nodes, &[], "")
}

fn taken(name: &str, kind: PermitKind, nodes: &[&str], columns: &[OpenedColumn], text: &str) -> Permit {
    let names: Vec<String> = nodes.iter().copied().map(String::from).collect();
    let list =
        format!(r#"[{{"site": "out", "kind": "{name}", "recipients": {names:?}, "columns": [{text}], "rows": null}}]"#);
    let mut permits = Permits::from_json(&list).expect("a list");
    permits.take("out", &[kind], &names, columns).expect("a permit")
}
